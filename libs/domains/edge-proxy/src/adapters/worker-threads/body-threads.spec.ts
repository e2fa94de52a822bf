import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { isRefusal } from '@gateway/errors';
import { type CallerPolicy, checkChatBody, type ChatBodyRules, type ModelView } from '@gateway/public-api';
import {
  unicodeText,
  bundleProgram,
  createScratchDirectory,
  fuzzRuns,
  type ScratchDirectory,
} from '@gateway/test-support';
import type { BodyThreads } from '../../core';
import { type BodyThreadsOptions, createBodyThreads } from './body-threads';

const program = bundleProgram('libs/domains/edge-proxy/src/adapters/worker-threads/body-worker.ts');

const MAX_TEXT_LENGTH = 2_000_000;
const PRICE = 1_000_000_000n;

function model(id: string): ModelView {
  return {
    id,
    disabled: false,
    contextLength: 100_000_000,
    maxOutputTokens: 4_096,
    capabilities: ['tools', 'vision', 'json_mode', 'structured_outputs'],
    reasoningEfforts: [],
    prices: {
      inputNanoUsdPerMillion: PRICE,
      cachedInputNanoUsdPerMillion: PRICE / 10n,
      cacheWriteNanoUsdPerMillion: PRICE * 5n,
      cacheWrite1hNanoUsdPerMillion: PRICE * 6n,
      outputNanoUsdPerMillion: PRICE * 2n,
      reasoningNanoUsdPerMillion: PRICE * 3n,
      imageNanoUsdPerMillion: PRICE * 4n,
      tiers: [],
    },
    tokenCounting: {
      encoding: 'o200k_base',
      factor: 1,
      imageFormula: 'constant',
      imageTokens: 1_000,
      pageTokens: 1_500,
    },
    extraParameters: [],
    forwardReasoningContent: false,
    targetPlaces: [{ provider: 'acme', region: 'eu' }],
    writesCacheImplicitly: true,
  };
}

const models = new Map([model('acme/m-1'), model('acme/m-2')].map((each) => [each.id, each]));
const policy: CallerPolicy = { allowedModels: [], multipleCompletions: false, jsonStreaming: false };
const rules: ChatBodyRules = { policy, models, wantsSha256: false };

const opened: BodyThreads[] = [];
function open(options: Partial<BodyThreadsOptions> = {}): BodyThreads {
  const threads = createBodyThreads({
    program: () => program,
    maxTextLength: MAX_TEXT_LENGTH,
    maxBodyBytes: 32 * 1024 * 1024,
    ...options,
  });
  opened.push(threads);
  return threads;
}
afterEach(async () => {
  for (const threads of opened.splice(0)) await threads.stop();
});

function chat(content: string, modelId = 'acme/m-1'): string {
  return JSON.stringify({ model: modelId, messages: [{ role: 'user', content }] });
}

interface CheckOptions {
  readonly owner?: string;
  readonly signal?: AbortSignal;
  readonly rules?: ChatBodyRules;
}

function check(threads: BodyThreads, text: string, options: CheckOptions = {}) {
  const { owner = 'key_1', signal = new AbortController().signal } = options;
  return threads.check({ owner, chunks: [Buffer.from(text)], rules: options.rules ?? rules, signal });
}

/** The code of a refusal or failure; "accepted" otherwise. */
async function outcome(checked: ReturnType<BodyThreads['check']>): Promise<string> {
  return checked.then(
    (result) => (isRefusal(result) ? result.code : 'accepted'),
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}

it('a check leaves the event loop to other requests: it turns meanwhile, and parses nothing itself', async () => {
  const parse = jest.spyOn(JSON, 'parse');
  let turns = 0;
  let isChecked = false;
  const checking = outcome(check(open(), chat('x'.repeat(4 * 1024 * 1024)))).finally(
    () => (isChecked = true),
  );
  while (!isChecked) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  expect(await checking).toBe('accepted');
  expect(turns).toBeGreaterThan(10);
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});

describe('a thread returns the same result as the event loop', () => {
  const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

  /** Bytes as numbers, so that a Buffer and a Uint8Array compare as equal. */
  function plain(result: unknown): string {
    return JSON.stringify(result, (_name, value: unknown) => {
      const bytes = value as { type?: string; data?: number[] } | Uint8Array | null;
      if (bytes instanceof Uint8Array) return [...bytes];
      return typeof bytes === 'object' && bytes !== null && bytes.type === 'Buffer' ? bytes.data : value;
    });
  }

  async function expectSame(threads: BodyThreads, bytes: Uint8Array, rulesOfBody: ChatBodyRules) {
    const inline = checkChatBody(bytes, rulesOfBody, sha256);
    const middle = Math.floor(bytes.length / 2);
    const inThread = await threads.check({
      owner: 'key_1',
      chunks: [Buffer.from(bytes.subarray(0, middle)), Buffer.from(bytes.subarray(middle))],
      rules: rulesOfBody,
      signal: new AbortController().signal,
    });
    expect(plain(inThread)).toBe(plain(inline));
  }

  const message = fc.record(
    {
      role: fc.constantFrom('user', 'system', 'assistant', 'tool', 'unknown'),
      content: fc.oneof(unicodeText(), fc.jsonValue()),
      name: fc.string(),
      tool_call_id: fc.string(),
    },
    { requiredKeys: ['role'] },
  );
  const body = fc.record(
    {
      model: fc.constantFrom('acme/m-1', 'acme/m-2', 'acme/none', ''),
      messages: fc.array(message, { maxLength: 4 }),
      max_tokens: fc.oneof(fc.integer(), fc.constant(10)),
      n: fc.constantFrom(1, 2, 0),
      stream: fc.boolean(),
      user: fc.string(),
      metadata: fc.dictionary(fc.oneof(fc.constantFrom('a', '__proto__'), fc.string()), fc.jsonValue()),
      anything: fc.jsonValue(),
    },
    { requiredKeys: ['model', 'messages'] },
  );
  const anyRules = fc.record({
    wantsSha256: fc.boolean(),
    models: fc.constantFrom(models, undefined, new Map([['acme/m-2', model('acme/m-2')]])),
    policy: fc.record({
      allowedModels: fc.constantFrom([], ['acme/m-2']),
      multipleCompletions: fc.boolean(),
      jsonStreaming: fc.boolean(),
      usageTags: fc.constantFrom([], ['a', '__proto__']),
      maxOutputTokensCap: fc.constantFrom(undefined, 5),
    }),
  });

  it('for any body, policy and model catalogue', async () => {
    const threads = open({ threads: 1 });
    const text = fc.oneof(
      { weight: 6, arbitrary: body.map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: body.map((value) => JSON.stringify(value).slice(0, -3)) },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.string() },
    );
    const bytes = fc.oneof(
      { weight: 8, arbitrary: text.map((each) => new Uint8Array(Buffer.from(each))) },
      { weight: 1, arbitrary: fc.uint8Array() },
    );
    await fc.assert(
      fc.asyncProperty(bytes, anyRules, (given, givenRules) => expectSame(threads, given, givenRules)),
      fuzzRuns(),
    );
  });

  it('for large bodies', async () => {
    const threads = open();
    for (const text of [
      chat('word '.repeat(100_000)),
      chat('\u4e00'.repeat(300_000)),
      `{"model":"acme/m-1","messages":[${'[],'.repeat(200_000)}[]]}`,
      `{"metadata":{${Array.from({ length: 20_000 }, (_, name) => `"${name}":1`).join()}}}`,
      chat('x'.repeat(1_000_000)).slice(0, -1),
    ]) {
      await expectSame(threads, Buffer.from(text), { ...rules, wantsSha256: true });
    }
  });
});

it('returns the text of a request, or only its size when it is too long to tokenize', async () => {
  const threads = open();
  for (const length of [MAX_TEXT_LENGTH, MAX_TEXT_LENGTH + 1]) {
    const text = `\u00e9${'a'.repeat(length - 1)}`;
    const result = await check(threads, chat(text));
    if (isRefusal(result)) throw new Error(result.message);
    expect(result.request.input.text).toEqual(
      length > MAX_TEXT_LENGTH ? { length, bytes: length + 1 } : text,
    );
  }
});

it('transfers chunks with their own memory, and copies chunks in shared memory', async () => {
  const threads = open();
  const bytes = Buffer.from(chat('Hi'));
  const separate = Buffer.allocUnsafeSlow(20);
  bytes.copy(separate);
  const shared = Buffer.concat([Buffer.from('before'), bytes.subarray(20)]);
  const result = await threads.check({
    owner: 'key_1',
    chunks: [separate, shared.subarray(6)],
    rules,
    signal: new AbortController().signal,
  });
  expect(isRefusal(result)).toBe(false);
  expect(separate.length).toBe(0);
  expect(shared.toString()).toBe(`before${bytes.subarray(20).toString()}`);
});

it('validates each body against its own models and policy', async () => {
  const threads = open({ threads: 1 });
  const fewer = new Map([['acme/m-2', model('acme/m-2')]]);
  const strict = { ...policy, allowedModels: ['acme/m-2'] };
  const results = [
    check(threads, chat('Hi')),
    check(threads, chat('Hi'), { rules: { ...rules, models: fewer } }),
    check(threads, chat('Hi'), { rules: { ...rules, models: undefined } }),
    check(threads, chat('Hi'), { rules: { ...rules, policy: strict } }),
    check(threads, chat('Hi')),
  ];
  expect(await Promise.all(results.map(outcome))).toEqual([
    'accepted',
    'model_not_found',
    'no_capacity',
    'model_not_allowed',
    'accepted',
  ]);
});

describe('fairness', () => {
  it('delays an owner with many bodies, and no other owner', async () => {
    const threads = open({ threads: 1 });
    const order: string[] = [];
    const send = async (owner: string, name: string): Promise<void> => {
      await check(threads, chat(name), { owner });
      order.push(name);
    };
    const many = Array.from({ length: 6 }, (_, number) => send('busy', `busy ${number}`));
    await Promise.all([...many, send('other', 'other 0'), send('third', 'third 0')]);
    // The first runs immediately; the second is the oldest in the queue.
    expect(order.slice(0, 4)).toEqual(['busy 0', 'busy 1', 'other 0', 'third 0']);
    expect(order).toHaveLength(8);
  });

  it('bounds the queue, and gives a place of the owner with the most to another', async () => {
    const threads = open({ threads: 1, maxQueued: 3 });
    const results = ['a', 'a', 'a', 'b', 'c', 'd'].map((owner) => check(threads, chat('Hi'), { owner }));
    expect(await Promise.all(results.map(outcome))).toEqual([
      'accepted', // Runs.
      'accepted',
      'no_capacity', // Lost its place to the body of c.
      'accepted',
      'accepted',
      'no_capacity', // Fourth queued body in total.
    ]);
    expect(await outcome(check(threads, chat('Hi'), { owner: 'c' }))).toBe('accepted');
  });

  it('removes a cancelled body, queued or running', async () => {
    const threads = open({ threads: 1, maxQueued: 1 });
    const cancel = new AbortController();
    const running = outcome(check(threads, chat('Hi'), { signal: cancel.signal }));
    const queued = outcome(check(threads, chat('Hi'), { signal: cancel.signal }));
    expect(await outcome(check(threads, chat('Hi')))).toBe('no_capacity');
    cancel.abort(new Error('cancelled'));
    const next = check(threads, chat('Hi'));
    expect(await Promise.all([running, queued])).toEqual(['cancelled', 'cancelled']);
    expect(await outcome(next)).toBe('accepted');
    expect(await outcome(check(threads, chat('Hi'), { signal: cancel.signal }))).toBe('cancelled');
  });
});

const CHECK_LIMIT_MS = 3_000;

/** Uses the messages of the real program, and terminates on some bodies. */
const CRASHING_PROGRAM = `const { parentPort } = require('node:worker_threads');
  parentPort.on('message', ({ kind, id, chunks }) => {
    if (kind !== 'check') return;
    const text = Buffer.from(chunks[0]).toString();
    if (text.includes('exit')) process.exit(3);
    if (text.includes('throw')) throw new Error('broken');
    if (text.includes('grow')) for (const all = []; ; ) all.push({ text: String(all.length) });
    if (text.includes('loop')) {
      // Waits without a core until shortly before the time limit.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${CHECK_LIMIT_MS - 200});
      for (;;);
    }
    parentPort.postMessage({ id, result: { kind: 'refusal', code: 'missing_messages' } });
  });
`;

describe('a thread that terminates', () => {
  let scratch: ScratchDirectory;
  beforeAll(async () => {
    scratch = await createScratchDirectory();
    writeFileSync(path.join(scratch.path, 'crashing.js'), CRASHING_PROGRAM);
  });
  afterAll(() => scratch.remove());

  it.each([
    ['grow', 'request_too_large'],
    ['exit', 'internal_error'],
    ['throw', 'internal_error'],
  ])('during a check (%s) fails that body, and no other', async (content, code) => {
    const threads = open({
      threads: 1,
      maxHeapMib: 16,
      program: () => path.join(scratch.path, 'crashing.js'),
    });
    const contents = ['Hi', content, 'Hi', content, 'Hi'];
    const results = contents.map((each) => outcome(check(threads, chat(each))));
    expect(await Promise.all(results)).toEqual([
      'missing_messages',
      code,
      'missing_messages',
      code,
      'missing_messages',
    ]);
  });

  it('because a check exceeds its time limit is replaced', async () => {
    const program = () => path.join(scratch.path, 'crashing.js');
    const threads = open({ threads: 1, maxCheckMs: CHECK_LIMIT_MS, program });
    const results = ['loop', 'Hi'].map((each) => outcome(check(threads, chat(each))));
    expect(await Promise.all(results)).toEqual(['internal_error', 'missing_messages']);
  });

  it('because its program is missing fails each check with internal_error', async () => {
    const threads = open({ threads: 1, program: () => '/nowhere/body-worker.js' });
    const results = [check(threads, chat('Hi')), check(threads, chat('Hi'))];
    expect(await Promise.all(results.map(outcome))).toEqual(['internal_error', 'internal_error']);
  });

  it('because it was idle is replaced for the next body', async () => {
    const threads = open({ threads: 1, idleThreadMs: 0 });
    for (let round = 0; round < 3; round += 1) {
      expect(await outcome(check(threads, chat('Hi')))).toBe('accepted');
      // The idle thread terminates before this timer.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });

  it('because the pool is stopped rejects all pending checks', async () => {
    const threads = open({ threads: 1 });
    const results = [check(threads, chat('Hi')), check(threads, chat('Hi'))].map(outcome);
    await threads.stop();
    expect(await Promise.all(results)).toEqual(['no_capacity', 'no_capacity']);
    expect(await outcome(check(threads, chat('Hi')))).toBe('no_capacity');
  });
});

it('checks bodies, at the priority of the process, where that is lower than its own', () => {
  // Only a process without privileges cannot raise its priority.
  const script = `
    const { setPriority } = require('node:os');
    const { Worker } = require('node:worker_threads');
    setPriority(15);
    const worker = new Worker(process.argv[1], { workerData: { maxTextLength: 1 } });
    if (process.getuid() === 0) process.setuid(65534);
    worker.on('message', ({ result }) => {
      console.log(result.code);
      process.exit();
    });
    const chunks = [Buffer.from('{}')];
    worker.postMessage({ kind: 'models', models: [] });
    worker.postMessage({ kind: 'check', id: 1, chunks, policy: ${JSON.stringify(policy)}, wantsSha256: false });`;
  expect(execFileSync(process.execPath, ['-e', script, program], { encoding: 'utf8' })).toBe(
    'missing_model\n',
  );
});
