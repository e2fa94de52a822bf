import { inflateSync } from 'node:zlib';
import type { HoldResult } from '@gateway/contracts/billing-ledger';
import type { GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import { chunk, DONE, ScriptedProvider, sse, startStream, usageChunk } from '../testing/scripted-provider';
import {
  deferred,
  generateRequest,
  model,
  PRICES,
  provider,
  RouterUnderTest,
} from '../testing/router-under-test';

/** Each is one token. */
const TOKEN = ' word';
const MAX_OUTPUT_TOKENS = 1_000;
const INPUT_NANO_USD = 9_000n;
const PER_TOKEN_NANO_USD = PRICES.outputNanoUsdPerMillion / 1_000_000n;
const HELD: HoldResult['outcome'] = { $case: 'held', value: {} };
const amountOf = (tokens: number) => INPUT_NANO_USD + BigInt(tokens) * PER_TOKEN_NANO_USD;
const refusedWith = (tokensLeft: number): HoldResult['outcome'] => ({
  $case: 'insufficientCredits',
  value: {
    availableNanoUsd: BigInt(tokensLeft) * PER_TOKEN_NANO_USD,
    heldNanoUsd: 0n,
    estimatedCostNanoUsd: 0n,
  },
});

let upstream: ScriptedProvider;
let router: RouterUnderTest;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
  router = await RouterUnderTest.start([model([provider('one', upstream.url)])], { extensionRetryMs: 1_000 });
});

afterAll(async () => {
  await router.stop();
  await upstream.stop();
});

beforeEach(() => {
  router.events.length = 0;
  router.extensions.length = 0;
  router.extend = () => Promise.resolve(HELD);
});

/** A stream whose hold covers this many output tokens. */
function elastic(outputTokens: number, changes: Partial<GenerateRequest> = {}): GenerateRequest {
  const request = generateRequest({ stream: true, maxOutputTokens: MAX_OUTPUT_TOKENS, ...changes });
  const hold = {
    holdId: request.generationId,
    organizationId: 'org-1',
    amountNanoUsd: amountOf(outputTokens),
  };
  return {
    ...request,
    elasticHold: {
      hold: hold as never,
      outputTokens,
      sliceTokens: 64,
      fullAmountNanoUsd: amountOf(MAX_OUTPUT_TOKENS),
    },
  };
}

const words = (count: number) => Array.from({ length: count }, () => chunk({ content: TOKEN }));

/** Sends all tokens in one write, or one by one. */
function playTokens(count: number, { atOnce }: { readonly atOnce: boolean }) {
  upstream.play(async (response) => {
    startStream(response);
    const events = [...words(count), chunk({}, 'stop'), usageChunk(9, count)];
    if (atOnce) response.write(sse(...events));
    else
      for (const event of events) {
        response.write(sse(event));
        await new Promise(setImmediate);
      }
    response.end(DONE);
  });
}

/** A stream that ends when its connection is closed. */
function playEndlessly() {
  upstream.play(async (response, { cut }) => {
    startStream(response);
    let isCut = false;
    void cut.then(() => (isCut = true));
    while (!isCut) {
      response.write(sse(...words(3)));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
}

const tokensIn = (text: string) => text.split(TOKEN).length - 1;
function tokensOf({ value }: IteratorResult<GenerateResponse>): number {
  const { event } = value as GenerateResponse;
  return event?.$case === 'frames' ? tokensIn(event.value.sse.toString()) : 0;
}

const lastChoice = (chunks: readonly Record<string, never>[]) =>
  (chunks.at(-1) as unknown as { choices: { delta: object; finish_reason: string }[] }).choices[0];

describe.each([
  ['that arrive at once', true],
  ['that arrive one by one', false],
])('tokens %s', (_how, atOnce) => {
  it('are sent in full while extensions are granted, and never more than the hold covers', async () => {
    playTokens(400, { atOnce });
    const covered = { tokens: 80 };
    router.extend = async ({ amountNanoUsd }) => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      covered.tokens = Number((amountNanoUsd - INPUT_NANO_USD) / PER_TOKEN_NANO_USD);
      return HELD;
    };
    const messages = router.generate(elastic(80));
    let text = '';
    for (let next = await messages.next(); !next.done; next = await messages.next()) {
      const { event } = next.value as GenerateResponse;
      if (event?.$case === 'frames') text += event.value.sse.toString();
      expect(tokensIn(text)).toBeLessThanOrEqual(covered.tokens);
    }
    expect(tokensIn(text)).toBe(400);
    expect(text).toContain('"finish_reason":"stop"');
    expect(router.extensions.length).toBeGreaterThan(2);
    // Ahead of need: never more than two slices above what was sent.
    expect(covered.tokens).toBeLessThanOrEqual(400 * 1.1 + 128);
    expect(router.events[0]).toMatchObject({ finishReason: 'stop', usage: { completionTokens: 400 } });
  });

  it('end with "length" where the balance ends, and are charged as sent', async () => {
    playTokens(400, { atOnce });
    // The balance covers 150 tokens, in all.
    let covered = amountOf(80);
    router.extend = async ({ amountNanoUsd }) => {
      if (amountNanoUsd > amountOf(150))
        return refusedWith(Number((amountOf(150) - covered) / PER_TOKEN_NANO_USD));
      covered = amountNanoUsd;
      return HELD;
    };
    const { sse: text, chunks, finished, error } = await router.collect(elastic(80, { includeUsage: true }));
    expect(error).toBeUndefined();
    const sent = tokensIn(text);
    // All that 150 tokens cover, with the margin of a tenth.
    expect(sent).toBeGreaterThan(130);
    expect(sent).toBeLessThanOrEqual(136);
    expect(lastChoice(chunks.slice(0, -1))).toMatchObject({ delta: {}, finish_reason: 'length' });
    expect(chunks.at(-1)).toMatchObject({ usage: { completion_tokens: sent } });
    expect(finished).toMatchObject({ finishReason: 'length', usage: { completionTokens: sent } });
    expect(finished?.costNanoUsd).toBeLessThanOrEqual(amountOf(150));
    expect(router.events).toMatchObject([
      {
        finishReason: 'length',
        cancelled: false,
        errorCode: undefined,
        usage: { completionTokens: sent },
        attempts: [{ outcome: 'cancelled' }],
      },
    ]);
  });
});

it('cancels the provider when an extension is refused', async () => {
  playEndlessly();
  router.extend = () => Promise.resolve(refusedWith(0));
  const { finished } = await router.collect(elastic(80));
  await upstream.calls[0]?.cut;
  expect(finished).toMatchObject({ finishReason: 'length' });
});

it('holds text back until its extension is granted, and makes each request once', async () => {
  playTokens(100, { atOnce: true });
  const granted = deferred();
  router.extend = () => granted.promise.then(() => HELD);
  const messages = router.generate(elastic(80));
  const first = await messages.next();
  const sent = tokensOf(first);
  expect(sent).toBe(72);
  const second = messages.next();
  await expect(
    Promise.race([second, new Promise((resolve) => setTimeout(resolve, 50, 'nothing'))]),
  ).resolves.toBe('nothing');
  granted.resolve();
  expect(tokensOf(await second)).toBe(28);
  while (!(await messages.next()).done);
  expect(router.extensions.map(({ amountNanoUsd }) => amountNanoUsd)).toEqual(
    [...new Set(router.extensions.map(({ amountNanoUsd }) => amountNanoUsd))].sort((a, b) => Number(a - b)),
  );
});

it('sends no output, but the end of the stream, when the first event is not covered', async () => {
  upstream.play((response) => {
    startStream(response);
    response.end(sse(chunk({ content: TOKEN.repeat(200) }), chunk({}, 'stop')) + DONE);
  });
  router.extend = () => Promise.resolve(refusedWith(0));
  const { chunks, finished } = await router.collect(elastic(80));
  expect(chunks).toHaveLength(1);
  expect(lastChoice(chunks)).toMatchObject({
    delta: { role: 'assistant', content: '' },
    finish_reason: 'length',
  });
  expect(finished?.usage).toMatchObject({ completionTokens: 0 });
});

it('charges what was sent where the provider reported more before its stream was cut', async () => {
  upstream.play((response) => {
    startStream(response);
    const first = { ...chunk({ content: TOKEN }), usage: { prompt_tokens: 9, completion_tokens: 500 } };
    response.end(sse(first, ...words(200), chunk({}, 'stop')) + DONE);
  });
  router.extend = () => Promise.resolve(refusedWith(0));
  const { finished } = await router.collect(elastic(80));
  expect(finished?.usage).toMatchObject({ promptTokens: 9, completionTokens: 72 });
});

describe('output that the provider bills and does not send', () => {
  beforeEach(() => {
    upstream.play((response) => {
      startStream(response);
      response.end(sse(...words(10), chunk({}, 'stop'), usageChunk(9, 800)) + DONE);
    });
  });

  it('is never charged above the hold, and costs the target its elastic holds', async () => {
    const hiding = await RouterUnderTest.start([model([provider('one', upstream.url)])]);
    const first = await hiding.collect(elastic(80));
    expect(first.finished?.usage).toMatchObject({ completionTokens: 80 });
    expect(first.finished?.costNanoUsd).toBeLessThanOrEqual(amountOf(80));
    expect(hiding.extensions).toEqual([]);

    const second = await hiding.collect(elastic(80));
    expect(hiding.extensions).toMatchObject([{ amountNanoUsd: amountOf(MAX_OUTPUT_TOKENS) }]);
    expect(second.finished?.usage).toMatchObject({ completionTokens: 800 });

    hiding.extend = () => Promise.resolve(refusedWith(0));
    const calls = upstream.calls.length;
    const third = await hiding.collect(elastic(80));
    expect(third.error).toMatchObject({ code: 'insufficient_credits' });
    expect(upstream.calls).toHaveLength(calls);
    await hiding.stop();
  });
});

it('counts the arguments of tool calls, and reasoning', async () => {
  const call = (text: string) =>
    chunk({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: text } }],
    });
  upstream.play((response) => {
    startStream(response);
    const events = [
      chunk({ reasoning_content: TOKEN.repeat(40) }),
      call(TOKEN.repeat(30)),
      call(TOKEN.repeat(30)),
    ];
    response.end(sse(...events, chunk({}, 'tool_calls')) + DONE);
  });
  router.extend = () => Promise.resolve(refusedWith(0));
  const { sse: text, chunks } = await router.collect(elastic(80));
  const repeated = /"reasoning_details":\[.*?\]/.exec(text)?.[0] ?? '';
  expect(tokensIn(text) - tokensIn(repeated)).toBe(70);
  expect(lastChoice(chunks)?.finish_reason).toBe('length');
});

it('repeats an extension whose response was lost', async () => {
  playTokens(100, { atOnce: true });
  let failures = 2;
  router.extend = () =>
    (failures -= 1) >= 0 ? Promise.reject(new GatewayError('no_capacity', {})) : Promise.resolve(HELD);
  const { sse: text, error } = await router.collect(elastic(80));
  expect([error, tokensIn(text)]).toEqual([undefined, 100]);
});

it('ends with an error when the ledger stays unavailable, and is charged as sent', async () => {
  playEndlessly();
  router.extend = () => Promise.reject(new GatewayError('no_capacity', {}));
  const { sse: text, error } = await router.collect(elastic(80));
  expect(error).toMatchObject({ code: 'no_capacity' });
  await upstream.calls[0]?.cut;
  expect(router.events).toMatchObject([
    {
      finishReason: 'error',
      errorCode: 'no_capacity',
      usage: { completionTokens: tokensIn(text) },
      // The provider did not fail.
      attempts: [{ outcome: 'cancelled' }],
    },
  ]);
});

it('costs nothing when the ledger is unavailable before anything was sent', async () => {
  upstream.play((response) => {
    startStream(response);
    response.end(sse(chunk({ content: TOKEN.repeat(200) }), chunk({}, 'stop')) + DONE);
  });
  router.extend = () => Promise.reject(new GatewayError('no_capacity', {}));
  const { frames, error } = await router.collect(elastic(80));
  expect(frames).toEqual([]);
  expect(error).toMatchObject({ code: 'no_capacity', providerCalled: true, generationRecorded: true });
  expect(router.events).toMatchObject([
    { errorCode: 'no_capacity', usage: { promptTokens: 0, completionTokens: 0 } },
  ]);
});

it('ends with an error when the hold is no longer open', async () => {
  playTokens(100, { atOnce: true });
  router.extend = () => Promise.resolve({ $case: 'rejected', value: { reason: 'closed' } });
  const { error } = await router.collect(elastic(80));
  expect(error).toMatchObject({ code: 'internal_error' });
  expect(router.extensions).not.toHaveLength(0);
});

it('a client that disconnects while text is held back owes only what was sent', async () => {
  playTokens(100, { atOnce: true });
  router.extend = () => new Promise(() => undefined);
  const cancel = new AbortController();
  const messages = router.generate(elastic(80), { signal: cancel.signal });
  const first = await messages.next();
  const sent = tokensOf(first);
  const second = messages.next();
  cancel.abort();
  await expect(second).rejects.toMatchObject({ code: 'request_timeout' });
  expect(router.events).toMatchObject([{ cancelled: true, usage: { completionTokens: sent } }]);
});

it('keeps the shortened stream for a replay', async () => {
  playTokens(100, { atOnce: true });
  router.extend = () => Promise.resolve(refusedWith(0));
  const request = elastic(80, { resumable: true, idempotencyScope: 'scope' });
  const { sse: text } = await router.collect(request);
  const ended = router.events[0]?.endedClaim;
  expect(inflateSync(ended?.responseEvents ?? Buffer.alloc(0)).toString()).toBe(text);
  expect(JSON.parse(String(ended?.responseJson))).toMatchObject({
    choices: [{ message: { content: TOKEN.repeat(72) }, finish_reason: 'length' }],
    usage: { completion_tokens: 72 },
  });
});

it('extends the hold of the target that responds, after a failover', async () => {
  const failing = await ScriptedProvider.start();
  failing.play((response) => void response.writeHead(400).end());
  const both = [provider('failing', failing.url, { maxAttempts: 1 }), provider('one', upstream.url)];
  const other = await RouterUnderTest.start([model(both)]);
  failing.play((response) => void response.writeHead(404).end());
  playTokens(100, { atOnce: true });
  const { sse: text } = await other.collect(elastic(80));
  expect(tokensIn(text)).toBe(100);
  expect(other.extensions.length).toBeGreaterThan(0);
  await other.stop();
  await failing.stop();
});
