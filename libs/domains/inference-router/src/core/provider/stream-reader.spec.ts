import { CompletionStream } from '../completion/completion-stream';
import { openai } from '../dialects/openai';
import { UpstreamFailure } from '../failure/upstream-failure';
import { createEventParser } from '../framing/event-parser';
import { OutputGate, type ElasticHold } from '../generation/output-gate';
import type { Attempt } from './attempt';
import { StreamReader } from './stream-reader';

const hold: ElasticHold = {
  amountNanoUsd: 64n,
  outputTokens: 64,
  sliceTokens: 64,
  fullAmountNanoUsd: 1_000_000n,
  extend: () => Promise.resolve({ kind: 'granted' }),
};

/** Arrays and strings of the stream that are read or copied as a whole. */
function countWork(run: () => Promise<void>): Promise<number> {
  let visited = 0;
  const originals: (() => void)[] = [];
  const watch = (prototype: object, names: readonly (string | symbol)[]) => {
    for (const name of names) {
      const original = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
      const method = original.value as (...values: unknown[]) => unknown;
      const watched = function (this: { readonly length: number }, ...values: unknown[]) {
        visited += this.length;
        return Reflect.apply(method, this, values);
      };
      Object.defineProperty(prototype, name, { ...original, value: watched });
      originals.push(() => Object.defineProperty(prototype, name, original));
    }
  };
  watch(Array.prototype, [Symbol.iterator, 'map', 'slice', 'concat', 'join', 'filter', 'flatMap', 'sort']);
  watch(String.prototype, ['slice', 'startsWith', 'includes', 'indexOf', 'split']);
  return run()
    .finally(() => originals.forEach((restore) => restore()))
    .then(() => visited);
}

/** Each event is one token, in a packet of its own. */
async function readStream(data: readonly string[]): Promise<number> {
  const packets = data.map((event) => Buffer.from(`data: ${event}\n\n`));
  let next = 0;
  const signal = new AbortController().signal;
  const attempt = {
    poll: () => packets[next++] ?? 'end',
    arrival: () => Promise.resolve(),
    listen: () => undefined,
    pause: () => undefined,
    expect: () => undefined,
    throwIfFailed: () => undefined,
    signal,
    target: { provider: { timeouts: { idleMs: 1_000 } } },
  };
  const stream = new CompletionStream({
    head: { generationId: 'gen-1', createdUnixS: 1, modelId: 'acme/m-1' },
    n: 1,
    includeUsage: false,
    decoder: openai.createDecoder(1),
    signer: undefined,
    failureOf: ({ message }) => new UpstreamFailure('failed', { detail: message }),
  });
  let countedCharacters = 0;
  const count = (text: string) => {
    countedCharacters += text.length;
    return text.length / TOKEN.length;
  };
  const gate = new OutputGate({ hold, maxOutputTokens: 1_000_000, count });
  const reader = new StreamReader(attempt as unknown as Attempt, stream, createEventParser('sse'), gate);
  await reader.waitForFirstEvent();
  for (let polled = reader.poll(); polled !== 'end'; polled = reader.poll())
    if (polled === 'none_yet') await new Promise(setImmediate);
  expect(stream.choices[0]?.finishReason).toBe('stop');
  return countedCharacters;
}

const TOKEN = ' word';
const event = (choice: object) => JSON.stringify({ choices: [{ index: 0, ...choice }] });
const call = (argument: string) => ({
  tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: argument } }],
});

describe.each<[string, (index: number) => string]>([
  ['text', () => event({ delta: { content: TOKEN } })],
  [
    'text with log probabilities',
    () => event({ delta: { content: TOKEN }, logprobs: { content: [{ token: TOKEN, logprob: -1 }] } }),
  ],
  ['arguments of a tool call', () => event({ delta: call(TOKEN) })],
  [
    'reasoning and text in turns',
    (index) => event({ delta: index % 2 === 0 ? { content: TOKEN } : { reasoning_content: TOKEN } }),
  ],
])('a stream of %s with an elastic hold', (_output, eventOf) => {
  it('takes work in proportion to its events', async () => {
    const workOf = async (events: number) => {
      const data = Array.from({ length: events }, (_, index) => eventOf(index));
      data.push(event({ delta: {}, finish_reason: 'stop' }), '[DONE]');
      let counted = 0;
      const visited = await countWork(async () => void (counted = await readStream(data)));
      return { visited, counted };
    };
    await workOf(10);
    const [once, fourfold] = [await workOf(500), await workOf(2_000)];
    expect(fourfold.visited).toBeLessThan(5 * once.visited);
    expect(fourfold.counted).toBeLessThan(5 * once.counted);
  });
});
