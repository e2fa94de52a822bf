import { UsageSource } from '@gateway/contracts/common';
import { dialectNames, dialects, type DialectName } from '../core/dialects/registry';
import { MAX_EVENT_BYTES } from '../core/framing/sse-parser';
import { cannedStreams } from '../testing/canned-streams';
import { publicCompletionOf } from '../testing/public-message';
import { generateRequest, model, provider, RouterUnderTest } from '../testing/router-under-test';
import { ScriptedProvider } from '../testing/scripted-provider';

/** Streams whose bytes are wrong end with an error after the text so far, in each framing. */
let upstream: ScriptedProvider;
let router: RouterUnderTest;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
  router = await RouterUnderTest.start(
    dialectNames.map((dialect) =>
      // With a single slot, a call that kept it would fail all later ones.
      model([provider(dialect, upstream.url, { dialect, maxConcurrent: 1 })], { id: dialect }),
    ),
  );
});
afterAll(async () => {
  await router.stop();
  await upstream.stop();
});
beforeEach(() => {
  router.events.length = 0;
});

/** Plays these bytes in one write. @returns the result of the client, the record, and whether the connection was closed */
async function stream(dialect: DialectName, bytes: readonly Buffer[], { ends = true } = {}) {
  let closed = false;
  upstream.play((response, call) => {
    void call.cut.then(() => (closed = true));
    response.writeHead(200, { 'content-type': cannedStreams[dialect].contentType });
    response.write(Buffer.concat(bytes));
    if (ends) response.end();
    return call.cut;
  });
  const collected = await router.collect(
    generateRequest({ modelId: dialect, stream: true, includeUsage: true }),
  );
  if (!ends) await upstream.calls[0]?.cut;
  expect(await router.metric('gateway_inference_router_in_flight')).toBe(0);
  const [record, ...others] = router.events;
  expect(others).toEqual([]);
  return { error: collected.error, ...publicCompletionOf(collected), record, closed };
}

/** Two events with text, and what precedes them. */
function hello(dialect: DialectName): Buffer[] {
  const { start, text } = cannedStreams[dialect];
  return [start, text('Hello'), text(' world')];
}

/** Changes one byte in the middle of an event. */
function flipped(event: Buffer): Buffer {
  const changed = Buffer.from(event);
  const at = Math.floor(changed.length / 2);
  changed[at] = (changed[at] ?? 0) ^ 0xff;
  return changed;
}

type MakeBytes = (dialect: DialectName) => Buffer;

/** By framing; the decoder of any dialect gets only what its framing accepts. */
const badBytes = {
  sse: [
    ['an event that is not JSON', () => Buffer.from('data: {"choices": [{\n\n')],
    ['an event that is not an object', () => Buffer.from('data: 7\n\n')],
    ['an event that is a string', () => Buffer.from('data: "Hello"\n\n')],
    [
      'an event above the limit, in one line',
      () => Buffer.from(`data: ${'x'.repeat(MAX_EVENT_BYTES + 1)}\n\n`),
    ],
    [
      'an event above the limit, in many lines',
      () => Buffer.from(`${`data: ${'x'.repeat(1_023)}\n`.repeat(MAX_EVENT_BYTES / 1_024 + 1)}\n`),
    ],
    ['an event above the limit that is valid', tooLong],
    ['an error', (dialect) => cannedStreams[dialect].error],
  ],
  aws_eventstream: [
    ['a frame with a wrong checksum', (dialect) => flipped(cannedStreams[dialect].text('!'))],
    ['bytes that are no frame', () => Buffer.from('data: {"choices":[]}\n\n')],
    ['a frame without bytes', () => Buffer.alloc(16)],
    ['a frame above the limit', tooLong],
    ['an exception', (dialect) => cannedStreams[dialect].error],
  ],
} as const satisfies Record<string, readonly (readonly [string, MakeBytes])[]>;

function tooLong(dialect: DialectName): Buffer {
  return cannedStreams[dialect].text('x'.repeat(MAX_EVENT_BYTES));
}

const rows = dialectNames.flatMap((dialect) =>
  badBytes[dialects[dialect].framing].map(([what, make]) => [dialect, what, make as MakeBytes] as const),
);

describe.each(rows)('a stream of the dialect %s with %s', (dialect, _, make) => {
  it('ends with an error after the text so far, which is charged, and the connection is closed', async () => {
    const bytes = [...hello(dialect), make(dialect)];
    const { error, message, finishReason, usage, record, closed } = await stream(dialect, bytes, {
      ends: false,
    });
    expect(error).toMatchObject({
      code: 'upstream_error',
      message: 'The model provider failed before the response was complete.',
    });
    expect([message.content, finishReason, usage, closed]).toEqual([
      'Hello world',
      undefined,
      undefined,
      true,
    ]);
    expect(record).toMatchObject({
      errorCode: 'upstream_error',
      finishReason: 'error',
      usage: { promptTokens: 9, completionTokens: 2 },
      usageSource: UsageSource.USAGE_SOURCE_COUNTED,
    });
  });
});

describe.each(dialectNames)('a stream of the dialect %s', (dialect) => {
  it('is complete with its usage', async () => {
    const { finishWithUsage } = cannedStreams[dialect];
    const { error, message, finishReason, usage, record } = await stream(dialect, [
      ...hello(dialect),
      finishWithUsage,
    ]);
    expect([error, message.content, finishReason]).toEqual([undefined, 'Hello world', 'stop']);
    expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 2 });
    expect(record).toMatchObject({ usageSource: UsageSource.USAGE_SOURCE_PROVIDER });
  });

  it('is complete without usage, which is counted', async () => {
    const { finish } = cannedStreams[dialect];
    const { error, message, usage, record } = await stream(dialect, [...hello(dialect), finish]);
    expect([error, message.content]).toEqual([undefined, 'Hello world']);
    expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 2 });
    expect(record).toMatchObject({ usageSource: UsageSource.USAGE_SOURCE_COUNTED });
  });

  it('that ends within an event fails after the text so far', async () => {
    const { text } = cannedStreams[dialect];
    const cut = text('!!!').subarray(0, -12);
    const { error, message, record } = await stream(dialect, [...hello(dialect), cut]);
    expect(error).toMatchObject({ code: 'upstream_error' });
    expect(message.content).toBe('Hello world');
    expect(record).toMatchObject({ errorCode: 'upstream_error', usage: { completionTokens: 2 } });
  });

  it('that starts with bytes that are unreadable is retried, and owes nothing', async () => {
    let calls = 0;
    const { contentType, finishWithUsage } = cannedStreams[dialect];
    upstream.play((response) => {
      calls += 1;
      response.writeHead(200, { 'content-type': contentType });
      const bytes = calls === 1 ? [Buffer.from('data: {\n\n')] : [...hello(dialect), finishWithUsage];
      response.end(Buffer.concat(bytes));
    });
    const collected = await router.collect(generateRequest({ modelId: dialect, stream: true }));
    expect(collected.error).toBeUndefined();
    expect(publicCompletionOf(collected).message.content).toBe('Hello world');
    expect(router.events.map(({ attempts }) => attempts.map(({ outcome }) => outcome))).toEqual([
      ['failed', 'ok'],
    ]);
  });
});
