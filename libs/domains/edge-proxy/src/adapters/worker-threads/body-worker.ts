import { hash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { isRefusal } from '@gateway/errors';
import {
  checkChatBody,
  type CheckedChatBody,
  type ModelView,
  type RefusedChatBody,
  type TextSize,
} from '@gateway/public-api';
import type { CheckRequest, FromThread, ThreadData, ToThread } from './messages';
import { lowerPriority } from './priority';

/**
 * The program of a validation thread. A bundle of its own without npm packages,
 * so that it starts in about 10 ms.
 */
const { maxTextLength } = workerData as ThreadData;
lowerPriority();

let models: ReadonlyMap<string, ModelView> | undefined;

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'models') {
    models = message.models && new Map(message.models.map((model) => [model.id, model]));
    return;
  }
  const { id } = message;
  try {
    const result = replaceLongText(check(message));
    reply({ id, result }, isRefusal(result) ? [] : bytesOf(result));
  } catch (error) {
    reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, []);
  }
});

function bytesOf({ request }: CheckedChatBody): readonly Uint8Array[] {
  const { documents = [] } = request.input;
  return [request.bodyJson, ...documents.map(({ pdf }) => pdf)];
}

function check({ chunks, ...rules }: CheckRequest): CheckedChatBody | RefusedChatBody {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks);
  return checkChatBody(bytes, { ...rules, models }, sha256);
}

function sha256(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

/** Sends back only the size of a text that is too long to tokenize. */
function replaceLongText(result: CheckedChatBody | RefusedChatBody): CheckedChatBody | RefusedChatBody {
  if (isRefusal(result)) return result;
  const { request } = result;
  const { text, embeddings } = request.input;
  const longTexts = embeddings?.longTexts ?? [];
  if (![text, ...longTexts.map((each) => each.text)].some(isTooLong)) return result;
  const input = {
    ...request.input,
    text: sizeIfTooLong(text),
    ...(embeddings && {
      embeddings: {
        ...embeddings,
        longTexts: longTexts.map((each) => ({ ...each, text: sizeIfTooLong(each.text) })),
      },
    }),
  };
  return { ...result, request: { ...request, input } };
}

function isTooLong(text: string | TextSize): text is string {
  return typeof text === 'string' && text.length > maxTextLength;
}

function sizeIfTooLong(text: string | TextSize): string | TextSize {
  return isTooLong(text) ? { length: text.length, bytes: Buffer.byteLength(text) } : text;
}

function reply(message: FromThread, transferred: readonly Uint8Array[]): void {
  // Small buffers share pooled memory and are copied instead.
  const own = transferred.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength);
  parentPort?.postMessage(
    message,
    own.map(({ buffer }) => buffer as ArrayBuffer),
  );
}
