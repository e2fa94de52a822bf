import { inflateSync } from 'node:zlib';
import type { GenerateResponse } from '@gateway/contracts/inference-router';
import type { GenerationEvent } from '../core/generation/generation-events';
import { JournalMemory } from '../core/generation/journal-memory';
import { ResumableStreams } from '../core/generation/resumable-streams';
import { toGenerationRequest } from './messages';
import { chunk, DONE, ScriptedProvider, sse, startStream, usageChunk } from '../testing/scripted-provider';
import { deferred, generateRequest, model, provider, RouterUnderTest } from '../testing/router-under-test';

let upstream: ScriptedProvider;
let router: RouterUnderTest;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
  router = await RouterUnderTest.start([model([provider('one', upstream.url)])]);
});

afterAll(async () => {
  await router.stop();
  await upstream.stop();
});

beforeEach(() => {
  router.events.length = 0;
});

const resumable = (changes = {}) =>
  generateRequest({ stream: true, resumable: true, idempotencyScope: 'scope', ...changes });

function follow(
  generationId: string,
  afterEvent = 0,
  { organizationId = 'org-1', signal = new AbortController().signal } = {},
): AsyncIterator<GenerateResponse> {
  const request = { generationId, organizationId, afterEvent };
  return router.handlers.followGeneration(request, { signal, metadata: {} })[Symbol.asyncIterator]();
}

async function restOf(messages: AsyncIterator<GenerateResponse>): Promise<string> {
  let text = '';
  for (let next = await messages.next(); !next.done; next = await messages.next()) {
    const { event } = next.value as GenerateResponse;
    if (event?.$case === 'frames') text += event.value.sse.toString();
  }
  return text;
}

const eventsOf = (text: string) => text.split('\n\n').filter(Boolean);

/** The provider sends "one", waits, then sends the rest. */
function playHalves(end = sse(chunk({ content: ' three' }), chunk({}, 'stop')) + DONE) {
  const second = deferred();
  upstream.play(async (response) => {
    startStream(response);
    response.write(sse(chunk({ role: 'assistant', content: 'one' }), chunk({ content: ' two' })));
    await second.promise;
    response.end(end);
  });
  return second;
}

it('is read from any event by several readers, and waits for none', async () => {
  const second = playHalves();
  const request = resumable({ includeUsage: true });
  const { generationId } = request;
  const first = router.generate(request);
  await first.next();
  // The first reader reads nothing more.
  const fromStart = restOf(follow(generationId));
  const later = restOf(follow(generationId, 1));
  second.resolve();
  const all = eventsOf(await fromStart);
  expect(all.map((event) => /"content":"(.*?)"/.exec(event)?.[1])).toEqual(
    expect.arrayContaining(['one', ' two', ' three']),
  );
  expect(all.at(-1)).toContain('"usage":{"prompt_tokens"');
  expect(eventsOf(await later)).toEqual(all.slice(1));
  await restOf(first);
  const ended = router.events[0]?.endedClaim;
  expect(eventsOf(inflateSync(ended?.responseEvents ?? Buffer.alloc(0)).toString())).toEqual(all);
  expect(JSON.parse(String(ended?.responseJson))).toMatchObject({
    choices: [{ message: { content: 'one two three' } }],
  });
});

it('runs to its end when a follower cancels, and cannot be followed after it', async () => {
  const second = playHalves();
  const request = resumable();
  const first = router.generate(request);
  const cancel = new AbortController();
  const follower = follow(request.generationId, 0, { signal: cancel.signal });
  await first.next();
  await follower.next();
  cancel.abort();
  expect((await follower.next()).done).toBe(true);
  second.resolve();
  expect(await restOf(first)).toContain(' three');
  expect(router.events).toMatchObject([{ cancelled: false, finishReason: 'stop' }]);
  expect(await restOf(follow(request.generationId))).toBe('');
});

it('ends every reader with the error of the generation, and stores nothing', async () => {
  const second = playHalves(sse({ error: { message: 'overloaded' } }));
  const request = resumable();
  const first = router.generate(request);
  await first.next();
  const follower = restOf(follow(request.generationId));
  second.resolve();
  await expect(follower).rejects.toMatchObject({ code: 'upstream_error' });
  await expect(restOf(first)).rejects.toMatchObject({ code: 'upstream_error' });
  expect(router.events[0]?.endedClaim?.responseEvents).toBeUndefined();
});

it('is cancelled with the call that started it', async () => {
  playHalves();
  const request = resumable();
  const cancel = new AbortController();
  const first = router.generate(request, { signal: cancel.signal });
  await first.next();
  const follower = restOf(follow(request.generationId));
  cancel.abort();
  await expect(follower).rejects.toMatchObject({ code: 'request_timeout' });
  expect(router.events).toMatchObject([{ cancelled: true }]);
});

it('is not found by another organization, under another id, or without having been started as resumable', async () => {
  const second = playHalves();
  const request = resumable();
  const first = router.generate(request);
  await first.next();
  expect(await restOf(follow(request.generationId, 0, { organizationId: 'org-2' }))).toBe('');
  expect(await restOf(follow('gen-unknown'))).toBe('');
  second.resolve();
  await restOf(first);

  const third = playHalves();
  const plain = resumable({ resumable: false });
  const running = router.generate(plain);
  await running.next();
  expect(await restOf(follow(plain.generationId))).toBe('');
  third.resolve();
  await restOf(running);
  expect(router.events[1]?.endedClaim?.responseEvents).toBeUndefined();
});

it('has at most eight followers', async () => {
  const second = playHalves();
  const request = resumable();
  const first = router.generate(request);
  await first.next();
  const followers = Array.from({ length: 8 }, () => follow(request.generationId));
  await Promise.all(followers.map((each) => each.next()));
  expect(await restOf(follow(request.generationId))).toBe('');
  await followers[0]?.return?.();
  const ninth = restOf(follow(request.generationId));
  second.resolve();
  expect(await ninth).toContain(' three');
  await Promise.all([restOf(first), ...followers.slice(1).map(restOf)]);
});

describe('beyond the memory of journals', () => {
  const newCall = () => ({
    signal: new AbortController().signal,
    deadlineUnixMs: undefined,
    traceHeaders: {},
  });
  const EVENTS = 400;
  const EVENT_CHARACTERS = 10_000;

  /** Runs streams whose events fill the memory, and counts the events that their providers could send. */
  function started(memory: JournalMemory) {
    const counts: { sent: number }[] = [];
    const streams = new ResumableStreams((_request, _call, toMessage) => {
      const count = { sent: 0 };
      counts.push(count);
      return (async function* () {
        for (; count.sent < EVENTS; count.sent += 1) {
          const event = { kind: 'frames', sse: 'x'.repeat(EVENT_CHARACTERS), completionTokens: 1 } as const;
          _call.journal?.append({ ...event, finishedChoices: [] });
          yield toMessage({ ...event, finishedChoices: [] });
        }
        yield toMessage({ kind: 'finished' } as GenerationEvent);
      })() as AsyncIterableIterator<never, undefined>;
    }, memory);
    return { streams, counts };
  }

  const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

  it.each([
    ['one journal', { charactersMax: 100_000, charactersTotalMax: 100_000_000 }, 0],
    ['all journals', { charactersMax: 100_000_000, charactersTotalMax: 300_000 }, 300_000],
  ])(
    'a stream without a journal proceeds at the pace of its client, and cannot be resumed: %s',
    async (_name, limits, keptMax) => {
      const memory = new JournalMemory(limits);
      const { streams, counts } = started(memory);
      const requests = Array.from({ length: 20 }, () => toGenerationRequest(resumable()));
      const readers = requests.map((request) => streams.run(request, newCall()));
      await settled();
      const unreadMax = 256 * 1024 + 2 * EVENT_CHARACTERS;
      expect(memory.used).toBeLessThanOrEqual(keptMax + requests.length * unreadMax);
      expect(counts.every(({ sent }) => sent < EVENTS)).toBe(true);
      expect(streams.follow({ ...requests[0]!, afterEvent: 0 }, newCall().signal)).toBeUndefined();
      for (const reader of readers) {
        let events = 0;
        for await (const event of reader) if (event.kind === 'frames') events += 1;
        expect(events).toBe(EVENTS);
      }
      await settled();
      expect(memory.used).toBe(0);
    },
  );

  it('a stream that its client never read leaves nothing when it ends', async () => {
    const memory = new JournalMemory();
    const { streams, counts } = started(memory);
    const client = new AbortController();
    streams.run(toGenerationRequest(resumable()), { ...newCall(), signal: client.signal });
    client.abort();
    while (counts[0]?.sent !== EVENTS) await settled();
    await settled();
    expect(memory.used).toBe(0);
  });

  it('a follower gets an error once its stream cannot be resumed', async () => {
    const memory = new JournalMemory({ charactersMax: 100_000, charactersTotalMax: 100_000_000 });
    const { streams } = started(memory);
    const request = toGenerationRequest(resumable());
    const reader = streams.run(request, newCall());
    const follower = streams.follow({ ...request, afterEvent: 0 }, newCall().signal);
    await expect(
      (async () => {
        for (let next = await follower?.next(); !next?.done; next = await follower?.next());
      })(),
    ).rejects.toMatchObject({ code: 'no_capacity' });
    await reader.return?.();
  });
});

it('has a usage chunk of its own when the client requested it', async () => {
  upstream.play((response) => {
    startStream(response);
    response.end(sse(chunk({ content: 'Hello' }), chunk({}, 'stop'), usageChunk(10, 2)) + DONE);
  });
  const { chunks } = await router.collect(resumable({ includeUsage: true }));
  expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
});

it('stores the response but not the events when they are too large', async () => {
  upstream.play((response) => {
    startStream(response);
    const parts = Array.from({ length: 65 }, () => chunk({ content: 'x'.repeat(64 * 1024) }));
    response.end(sse(...parts, chunk({}, 'stop')) + DONE);
  });
  await router.collect(resumable());
  const ended = router.events[0]?.endedClaim;
  expect(ended?.responseJson?.length).toBeGreaterThan(4 * 1024 * 1024);
  expect(ended?.responseEvents).toBeUndefined();
});

it('keeps the chunk with which the router ends a completion that has no finish_reason', async () => {
  upstream.play((response) => {
    startStream(response);
    response.end(sse(chunk({ content: 'Hello' })) + DONE);
  });
  const { sse: sent } = await router.collect(resumable());
  expect(sent).toContain('"finish_reason":"stop"');
  const stored = router.events[0]?.endedClaim?.responseEvents ?? Buffer.alloc(0);
  expect(inflateSync(stored).toString()).toBe(sent);
});
