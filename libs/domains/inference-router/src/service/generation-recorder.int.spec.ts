import type { StatsFs } from 'node:fs';
import fs, { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenerationFinished } from '@gateway/contracts/events';
import { createResponseKey, decryptResponse } from '@gateway/events';
import { createLogger, createSilentLogger, newId } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { createFileSpool } from '../adapters/file-system/file-spool';
import { nodeTimers } from '../adapters/node/timers';
import { SpoolFullError } from '../core/ports';
import { completion, helloCompletion, json, ScriptedProvider } from '../testing/scripted-provider';
import { createGenerationRecorder } from './generation-recorder';
import { generateRequest, model, provider, RouterUnderTest } from '../testing/router-under-test';

let upstream: ScriptedProvider;
let directory: string;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
  upstream.play(helloCompletion);
});
afterAll(() => upstream.stop());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'router-spool-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const start = (maxBytes?: number) =>
  RouterUnderTest.start([model([provider('one', upstream.url)])], {
    spool: createFileSpool({ directory, ...(maxBytes === undefined ? {} : { maxBytes }) }),
  });

const storedIn = (router: RouterUnderTest, where: string) =>
  router.metric('gateway_inference_router_finished_total', { stored_in: where });

describe('the end of a generation', () => {
  it('is settled with the ledger when the event log is unavailable', async () => {
    const router = await start();
    router.eventLogDown = true;
    const { finished } = await router.collect(generateRequest({ generationId: 'gen-L' }));
    expect(finished?.finishReason).toBe('stop');
    expect(router.settled).toMatchObject([{ generationId: 'gen-L', usage: { promptTokens: 10 } }]);
    expect(await storedIn(router, 'ledger')).toBe(1);
    await router.stop();
  });

  it('is settled early with an Idempotency-Key, so that the response can be replayed immediately', async () => {
    const router = await start();
    await router.collect(generateRequest({ generationId: 'gen-P' }));
    expect(router.settled).toEqual([]);
    await router.collect(generateRequest({ generationId: 'gen-I', idempotencyScope: 'scope' }));
    expect(router.events).toMatchObject([{ generationId: 'gen-P' }, { generationId: 'gen-I' }]);
    expect(router.settled).toMatchObject([{ generationId: 'gen-I', endedClaim: { scope: 'scope' } }]);
    router.ledgerDown = true;
    const { finished } = await router.collect(generateRequest({ idempotencyScope: 'other' }));
    expect(finished?.finishReason).toBe('stop');
    await router.stop();
  });

  it('is spooled when the ledger is unavailable, too, and is replayed by the next process', async () => {
    const crashed = await start();
    crashed.eventLogDown = true;
    crashed.ledgerDown = true;
    expect((await crashed.collect(generateRequest({ generationId: 'gen-D' }))).error).toBeUndefined();
    expect((await readdir(directory)).sort()).toEqual(['gen-D.finished', 'spool.lock']);
    expect(await storedIn(crashed, 'spool')).toBe(1);
    // A crash: the router is not stopped, its lock is stale, and a partial record remains.
    await rm(join(directory, 'spool.lock'));
    await writeFile(join(directory, 'gen-half.partial'), 'half');
    const next = await start();
    await next.stop();
    expect(next.events).toMatchObject([{ generationId: 'gen-D', usage: { promptTokens: 10 } }]);
    expect(await readdir(directory)).toEqual([]);
    crashed.eventLogDown = false;
    await crashed.stop();
  });

  it('stays spooled while no store accepts it, and an unreadable record is set aside', async () => {
    await writeFile(join(directory, 'gen-bad.finished'), Buffer.from([0xff, 0xff, 0xff]));
    const router = await start();
    router.eventLogDown = true;
    router.ledgerDown = true;
    await router.collect(generateRequest({ generationId: 'gen-K' }));
    await router.module.stop();
    expect((await readdir(directory)).sort()).toEqual(['gen-K.finished', 'gen-bad.unreadable']);
    expect(router.events).toEqual([]);
  });

  it('is never reported as finished when it could not be stored', async () => {
    const spool = createFileSpool({ directory });
    const put = () => Promise.reject(new Error('no space left on device'));
    const router = await RouterUnderTest.start([model([provider('one', upstream.url)])], {
      spool: { ...spool, put },
    });
    router.eventLogDown = true;
    router.ledgerDown = true;
    const { error, finished } = await router.collect(generateRequest());
    expect(error).toMatchObject({ code: 'internal_error' });
    expect(finished).toBeUndefined();
    expect(await storedIn(router, 'lost')).toBe(1);
    await router.stop();
  });
});

describe('the response for an Idempotency-Key', () => {
  const responseKey = createResponseKey();
  const owner = { scope: 'scope', generationId: 'gen-S' };
  const request = (changes: object = {}) =>
    generateRequest({
      generationId: owner.generationId,
      idempotencyScope: owner.scope,
      responseKey,
      ...changes,
    });

  it('is encrypted in the event, in the call to the ledger and in the spool', async () => {
    const router = await start();
    const { finished } = await router.collect(request());
    router.eventLogDown = true;
    router.ledgerDown = true;
    await router.collect(request());
    const spooled = GenerationFinished.decode(await readFile(join(directory, 'gen-S.finished')));
    const messages = [router.events[0], router.settled[0], spooled];
    expect(messages).toHaveLength(3);
    for (const message of messages) {
      const encoded = Buffer.from(GenerationFinished.encode(message!).finish());
      expect([encoded.includes('Hello'), encoded.includes(responseKey)]).toEqual([false, false]);
      const { encryptedResponse = Buffer.alloc(0) } = message?.endedClaim ?? {};
      const { json } = decryptResponse(responseKey, owner, encryptedResponse);
      expect(json.toString()).toContain('Hello');
      if (message !== spooled) expect(json).toEqual(finished?.responseJson);
    }
    router.eventLogDown = false;
    await router.stop();
  });

  it('is in the event in clear for an older edge, which has no key', async () => {
    const router = await start();
    const { finished } = await router.collect(request({ responseKey: undefined }));
    expect(router.events[0]?.endedClaim?.responseJson).toEqual(finished?.responseJson);
    await router.stop();
  });

  it('is not generated with an invalid key: no provider is called', async () => {
    const router = await start();
    const calls = upstream.calls.length;
    expect(() => router.generate(request({ responseKey: Buffer.alloc(16) }))).toThrow();
    expect(upstream.calls).toHaveLength(calls);
    await router.stop();
  });
});

describe('a router that cannot record', () => {
  it('calls no provider and is not ready while its spool is full', async () => {
    const router = await start(100_000);
    router.eventLogDown = true;
    router.ledgerDown = true;
    expect(await router.module.isReady?.()).toBe(true);
    while (await router.module.isReady?.())
      await router.collect(generateRequest({ generationId: newId('gen') }));
    const calls = upstream.calls.length;
    const { error } = await router.collect(generateRequest());
    expect(error).toMatchObject({ code: 'no_capacity' });
    expect(upstream.calls).toHaveLength(calls);
    expect(await router.metric('gateway_inference_router_can_record')).toBe(0);
    expect(await storedIn(router, 'lost')).toBe(0);
    // The stores recover, and the replay makes space.
    router.eventLogDown = false;
    await eventually('space in the spool', async () => (await router.module.isReady?.()) || undefined);
    await router.stop();
  });

  it('calls no provider while the disk of its spool accepts no writes', async () => {
    const spool = createFileSpool({ directory });
    const router = await RouterUnderTest.start([model([provider('one', upstream.url)])], { spool });
    // A file in place of the folder: every write fails, also as root.
    await rm(directory, { recursive: true });
    await writeFile(directory, '');
    await spool.checkDisk();
    const calls = upstream.calls.length;
    expect((await router.collect(generateRequest())).error).toMatchObject({ code: 'no_capacity' });
    expect(upstream.calls).toHaveLength(calls);
    expect(await router.module.isReady?.()).toBe(false);
    await rm(directory, { force: true });
    await mkdir(directory);
    await spool.checkDisk();
    expect((await router.collect(generateRequest())).error).toBeUndefined();
    await router.stop();
  });

  it('drops the response for an Idempotency-Key rather than the charge', async () => {
    const spool = createFileSpool({ directory });
    const put = (id: string, record: Uint8Array) =>
      record.length > 2_000 ? Promise.reject(new SpoolFullError(2_000)) : spool.put(id, record);
    const router = await RouterUnderTest.start([model([provider('one', upstream.url)])], {
      spool: { ...spool, put },
    });
    router.eventLogDown = true;
    router.ledgerDown = true;
    upstream.play(json(completion({ content: 'word '.repeat(500) })));
    await router.collect(generateRequest({ generationId: 'gen-I', idempotencyScope: 'scope' }));
    upstream.play(helloCompletion);
    expect(await storedIn(router, 'spool')).toBe(1);
    const record = GenerationFinished.decode(await spool.read('gen-I'));
    expect(record).toMatchObject({ generationId: 'gen-I', endedClaim: undefined });
    router.eventLogDown = false;
    await router.stop();
  });
});

describe('the spool', () => {
  it('is of one router at a time, also on a disk that is full', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(/this process already uses .*router-spool/);
    await first.stop();
    await (await start()).stop();

    const write = jest
      .spyOn(fs, 'writeFile')
      .mockRejectedValue(Object.assign(new Error(), { code: 'ENOSPC' }));
    const spool = createFileSpool({ directory });
    await expect(spool.open()).resolves.toBeUndefined();
    write.mockRestore();
  });

  it('reserves no more than the free space of its disk', async () => {
    const spool = createFileSpool({ directory });
    await spool.open();
    const disk = jest.spyOn(fs, 'statfs');
    disk.mockResolvedValue({ bavail: 3, bsize: 16 * 1024 } as StatsFs);
    await spool.checkDisk();
    const [release] = [spool.reserve(), spool.reserve(), spool.reserve()];
    expect(spool.reserve()).toBeUndefined();
    expect(spool.hasSpace()).toBe(false);
    release?.();
    release?.();
    expect(spool.reserve()).toBeDefined();
    expect(spool.reserve()).toBeUndefined();
    disk.mockRestore();
  });

  it('leaves no partial file behind when a write fails', async () => {
    const spool = createFileSpool({ directory });
    await spool.open();
    await mkdir(join(directory, 'gen-X.finished'));
    await writeFile(join(directory, 'gen-X.finished', 'in the way'), '');
    await expect(spool.put('gen-X', Buffer.alloc(6))).rejects.toThrow();
    expect((await readdir(directory)).sort()).toEqual(['gen-X.finished', 'spool.lock']);
    expect(spool.reserve()).toBeUndefined();
    await spool.checkDisk();
    expect(spool.reserve()).toBeDefined();
  });

  it('is limited in bytes, and removed records free space', async () => {
    const spool = createFileSpool({ directory, maxBytes: 10 });
    await spool.open();
    await spool.put('a', Buffer.alloc(6));
    await expect(spool.put('b', Buffer.alloc(6))).rejects.toBeInstanceOf(SpoolFullError);
    await spool.remove('a');
    await spool.put('b', Buffer.alloc(6));
    expect(spool.names()).toEqual(['b']);
    expect(spool.bytes()).toBe(6);
  });

  it('counts a record while it is written, and lists it for the replay once it is durable', async () => {
    const spool = createFileSpool({ directory });
    await spool.open();
    const written = spool.put('a', Buffer.alloc(6));
    expect([spool.bytes(), spool.names()]).toEqual([6, []]);
    await written;
    expect([spool.bytes(), spool.names()]).toEqual([6, ['a']]);
  });

  it('does not let an id select a path', async () => {
    const spool = createFileSpool({ directory });
    await spool.open();
    await spool.put('../../etc/passwd', Buffer.from('x'));
    const [file, ...others] = (await readdir(directory)).sort();
    expect(file).toMatch(/^[0-9a-f]{64}\.finished$/);
    expect(others).toEqual(['spool.lock']);
  });
});

it('replays spooled generations in batches of a bounded number and size, at the stop, too', async () => {
  const spool = createFileSpool({ directory });
  await spool.open();
  const put = (id: string, more: Partial<GenerationFinished> = {}) => {
    const message = GenerationFinished.fromPartial({ generationId: id, organizationId: 'org-1', ...more });
    return spool.put(id, GenerationFinished.encode(message).finish());
  };
  for (let index = 0; index < 100; index += 1) await put(`gen-${index}`);
  for (const id of ['gen-large-1', 'gen-large-2']) await put(id, { modelId: 'm'.repeat(1024 * 1024) });
  const batches: string[][] = [];
  const recorder = createGenerationRecorder({
    events: {
      append: async (_topic, events) =>
        void batches.push(events.map(({ payload }) => GenerationFinished.decode(payload).generationId)),
    },
    ledger: {} as never,
    spool,
    timers: nodeTimers,
    log: createSilentLogger(),
    onStored: () => undefined,
    onReplayed: () => undefined,
  });
  await recorder.stop();
  expect(batches.map(({ length }) => length)).toEqual([64, 37, 1]);
  expect(new Set(batches.flat()).size).toBe(102);
  expect(spool.names()).toEqual([]);
});

it('a spooled generation does not wait for records that are rejected or unreadable', async () => {
  const spool = createFileSpool({ directory });
  await spool.open();
  for (const generationId of ['gen-1', 'gen-2', 'gen-3', 'gen-4']) {
    const message = GenerationFinished.fromPartial({ generationId, organizationId: 'org-1' });
    await spool.put(generationId, GenerationFinished.encode(message).finish());
  }
  await rm(join(directory, 'gen-3.finished'));
  await mkdir(join(directory, 'gen-3.finished'));
  const accepted: string[] = [];
  const recorder = createGenerationRecorder({
    events: {
      append: async (_topic, events) => {
        const ids = events.map(({ payload }) => GenerationFinished.decode(payload).generationId);
        if (ids.some((id) => id !== 'gen-4')) throw new Error('not this one');
        accepted.push(...ids);
      },
    },
    ledger: { settleGenerations: () => Promise.reject(new Error('not this one')) } as never,
    spool,
    timers: nodeTimers,
    log: createSilentLogger(),
    onStored: () => undefined,
    onReplayed: () => undefined,
  });
  await recorder.replay();
  await recorder.replay();
  expect(accepted).toEqual(['gen-4']);
  expect(spool.names()).toEqual(['gen-1', 'gen-2', 'gen-3']);
});

it('a replay ends when the disk cannot be read, and the next one starts after those records', async () => {
  const spool = createFileSpool({ directory });
  await spool.open();
  for (let index = 0; index < 10; index += 1) await spool.put(`gen-${index}`, Buffer.from('x'));
  const read: string[] = [];
  const broken = {
    ...spool,
    read: (name: string) => {
      read.push(name);
      return Promise.reject(new Error('EIO'));
    },
  };
  const recorder = createGenerationRecorder({
    ...{ events: {} as never, ledger: {} as never, spool: broken, timers: nodeTimers },
    ...{ log: createSilentLogger(), onStored: () => undefined, onReplayed: () => undefined },
  });
  await recorder.replay();
  expect(read).toEqual(['gen-0', 'gen-1']);
  await recorder.replay();
  expect(read).toEqual(['gen-0', 'gen-1', 'gen-2', 'gen-3']);
});

it('logs one line per store and interval while the stores refuse generations', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ name: 'test', level: 'warn', pretty: false, destination });
  const router = await RouterUnderTest.start([model([provider('one', upstream.url)])], { log });
  router.eventLogDown = true;
  router.ledgerDown = true;
  for (let index = 0; index < 5; index += 1)
    await router.collect(generateRequest({ generationId: newId('gen') }));
  await router.stop();
  const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages.filter((message) => message.includes('did not accept'))).toEqual([
    'the event log did not accept a finished generation',
    'the ledger did not accept a finished generation',
  ]);
});
