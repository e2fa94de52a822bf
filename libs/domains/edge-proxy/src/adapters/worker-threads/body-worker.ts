import { hash } from 'node:crypto';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { isRefusal, type Refusal } from '@gateway/errors';
import { checkChatBody, type CheckedChatBody, type ModelView } from '@gateway/public-api';
import type { CheckOrder, FromThread, ThreadData, ToThread } from './messages';

/**
 * The program of a thread that checks bodies. It is bundled by itself, and has
 * no packages, so that it starts in some ten milliseconds.
 */
const { maxTextLength } = workerData as ThreadData;
/** Of "nice": on a crowded machine the event loop comes first. */
const THREAD_PRIORITY = 10;
// Elsewhere this would be the priority of the whole process.
if (process.platform === 'linux') setPriority(THREAD_PRIORITY);

let models: ReadonlyMap<string, ModelView> | undefined;

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'models') {
    models = message.models && new Map(message.models.map((model) => [model.id, model]));
    return;
  }
  const { id } = message;
  try {
    const result = shortened(check(message));
    answer({ id, result }, isRefusal(result) ? [] : [result.request.bodyJson]);
  } catch (error) {
    answer({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, []);
  }
});

function check({ pieces, policy, wantsSha256 }: CheckOrder): CheckedChatBody | Refusal {
  const [first] = pieces;
  const bytes = pieces.length === 1 && first ? first : Buffer.concat(pieces);
  return checkChatBody(bytes, { policy, models, wantsSha256 }, sha256);
}

function sha256(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

/** A text that nobody is going to read does not have to cross over. */
function shortened(result: CheckedChatBody | Refusal): CheckedChatBody | Refusal {
  if (isRefusal(result)) return result;
  const { request } = result;
  const { text } = request.input;
  if (typeof text !== 'string' || text.length <= maxTextLength) return result;
  const size = { length: text.length, bytes: Buffer.byteLength(text) };
  return { ...result, request: { ...request, input: { ...request.input, text: size } } };
}

function answer(message: FromThread, moved: readonly Uint8Array[]): void {
  // Small ones lie in memory that others use too.
  const own = moved.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength);
  parentPort?.postMessage(
    message,
    own.map(({ buffer }) => buffer as ArrayBuffer),
  );
}
