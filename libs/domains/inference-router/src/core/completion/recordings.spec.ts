import { recordingsOf, type Recording } from '../../testing/recordings/recordings';
import { dialectNames, dialects } from '../dialects/registry';
import type { EventDecoder } from '../dialects/dialect';
import { createEventParser } from '../framing/event-parser';
import { UpstreamFailure } from '../failure/upstream-failure';
import { renderCompletion } from './completion';
import { CompletionStream } from './completion-stream';

const head = { generationId: 'gen-1', createdUnixS: 1, modelId: 'acme/m-1' };

const streams = dialectNames
  .flatMap(recordingsOf)
  .filter(({ isStream, status }) => isStream && status === 200);

interface Public {
  /** The chunks that a client gets, one per event at most. */
  readonly chunks: readonly string[];
  /** The same completion as a response. */
  readonly completion: string;
  /** The failure of a stream that is unreadable. */
  readonly failure: string | undefined;
}

function publish(
  { dialect, bytes }: Recording,
  bytesPerPush: number,
  decoder: EventDecoder = dialects[dialect].createDecoder(1),
): Public {
  const parser = createEventParser(dialects[dialect].framing);
  const stream = new CompletionStream({
    head,
    n: 1,
    includeUsage: true,
    decoder,
    signer: undefined,
    failureOf: ({ message }) => new UpstreamFailure('failed', { detail: message }),
  });
  const chunks: string[] = [];
  let failure: string | undefined;
  const push = (events: readonly string[]): void => {
    for (const event of events) {
      const chunk = stream.push(event);
      if (chunk !== '') chunks.push(chunk);
    }
  };
  try {
    for (let at = 0; at < bytes.length; at += bytesPerPush) {
      push(parser.push(bytes.subarray(at, at + bytesPerPush)));
    }
    push(parser.end());
  } catch (error) {
    failure = String(error);
  }
  return { chunks, completion: renderCompletion(head, stream.choices, {}), failure };
}

interface Chunk {
  readonly choices: readonly { readonly delta: Readonly<Record<string, unknown>> }[];
}

describe('the public chunks of recorded streams', () => {
  it.each(dialectNames)('exist for the dialect %s', (dialect) => {
    expect(streams.filter((stream) => stream.dialect === dialect).length).toBeGreaterThanOrEqual(2);
  });

  it.each(streams)('are the same as a whole and cut at every byte: $dialect $name', (recorded) => {
    const whole = publish(recorded, recorded.bytes.length);
    expect(whole.chunks).not.toEqual([]);
    expect(publish(recorded, 1)).toEqual(whole);
  });

  it.each(streams)('are the same without the fast path: $dialect $name', (recorded) => {
    const decoder = dialects[recorded.dialect].createDecoder(1);
    const slow = { decode: (data: string) => decoder.decode(data), templateOf: () => undefined };
    const parsed = ({ chunks, completion }: Public) => ({
      chunks: chunks.map((chunk) => JSON.parse(chunk.slice('data: '.length)) as Chunk),
      completion: JSON.parse(completion) as object,
    });
    const { length } = recorded.bytes;
    expect(parsed(publish(recorded, length))).toEqual(parsed(publish(recorded, length, slow)));
  });

  it.each(streams)('join to the completion: $dialect $name', (recorded) => {
    const { chunks, completion } = publish(recorded, recorded.bytes.length);
    const deltas = chunks.flatMap((chunk) => {
      const [, data = ''] = /^data: (.*)\n\n$/.exec(chunk) ?? [];
      return (JSON.parse(data) as Chunk).choices.map(({ delta }) => delta);
    });
    const { message } = (JSON.parse(completion) as { choices: { message: Record<string, unknown> }[] })
      .choices[0] as { message: Record<string, unknown> };
    for (const field of ['content', 'reasoning_content']) {
      const joined = deltas.map((delta) => (delta[field] as string | null | undefined) ?? '').join('');
      expect(joined).toBe(message[field] ?? '');
    }
  });
});
