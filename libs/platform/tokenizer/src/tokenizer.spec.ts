import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import fc from 'fast-check';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { Registry } from 'prom-client';
import { bundleProgram, fuzzRuns } from '@gateway/test-support';
import { countText } from './count-text';
import { createCountThreads } from './count-threads';
import { loadEncoding } from './encodings';
import { MAX_RUN_LENGTH } from './segments';
import {
  createTokenizer,
  MAX_INLINE_BYTES,
  MAX_TOKENIZED_LENGTH,
  type CountMethod,
  type TokenCounter,
  type Tokenizer,
  type TokenizerOptions,
} from './tokenizer';

const WORKER = 'libs/platform/tokenizer/src/count-worker.ts';
const workerProgram = bundleProgram(WORKER);
const program = () => workerProgram;

const allowAll = { disallowedSpecial: new Set<string>() };

/** Texts of about 30,000 characters whose tokens usually differ between tokenizers. */
const samples: Readonly<Record<string, string>> = {
  English: repeated(
    (n) => `The ${n}th gateway holds the amount first, and settles it exactly once. "Why?" Because!\n`,
  ),
  code: repeated(
    (n) => `  if (value_${n} !== undefined) {\n    return map.get(\`key-\${value_${n}}\`) ?? [];\n  }\n`,
  ),
  JSON: repeated((n) => `{"id":${n},"name":"item-${n}","tags":["a","b"],"price":${n / 7}},`),
  Russian: repeated(
    (n) => `Шлюз удерживает сумму до вызова модели и списывает её ровно один раз, запрос ${n}. `,
  ),
  Chinese: repeated((n) => `网关先冻结金额,然后调用模型,最后只结算一次。请求编号${n}。`),
  Arabic: repeated((n) => `تحجز البوابة المبلغ أولاً ثم تسوي التكلفة مرة واحدة فقط ${n}. `),
  emoji: repeated((n) => `Done 👩‍👩‍👧‍👦 ${n} 🎉🚀 next… `),
};

function repeated(line: (n: number) => string): string {
  let text = '';
  for (let n = 0; text.length < 30_000; n += 1) text += line(n);
  return text;
}

/** Deterministic pseudo-random text. */
function randomText(length: number): string {
  let state = 12_345;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += String.fromCharCode(97 + ((state >>> 8) % 26));
  }
  return text;
}

type ClosableCounter = TokenCounter & Pick<Tokenizer, 'warmUp' | 'close'>;

const tokenizers: Tokenizer[] = [];

/** A counter with its own tokenizer. */
function counter(options: TokenizerOptions & { maxQueued?: number } = {}): ClosableCounter {
  const tokenizer = createTokenizer({ program, ...options });
  tokenizers.push(tokenizer);
  return { ...tokenizer, ...tokenizer.openCounter(options.maxQueued) };
}

afterEach(async () => {
  for (const each of tokenizers.splice(0)) await each.close();
});

describe('the count', () => {
  // Shared: starting a thread and loading vocabularies takes most of the time of these tests.
  const tokenizer = createTokenizer({ program });
  const shared = tokenizer.openCounter();
  afterAll(() => tokenizer.close());

  it.each(Object.entries(samples))(
    'of %s is within 1 %% of that of the unsplit text',
    async (_name, text) => {
      for (const [encoding, countWhole] of [
        ['o200k_base', countO200k],
        ['cl100k_base', countCl100k],
      ] as const) {
        const unsplit = countWhole(text, allowAll);
        expect(Math.abs((await shared.count(text, encoding)) / unsplit - 1)).toBeLessThan(0.01);
      }
    },
  );

  it('of a short text is exact', async () => {
    const short = 'Write a story about 3 otters, please.';
    expect(await shared.count(short, 'o200k_base')).toBe(countO200k(short));
    expect(await shared.count('', 'o200k_base')).toBe(0);
  });

  it('of special tokens in a text is that of plain text', async () => {
    const special = '<|endoftext|><|im_start|>system<|fim_prefix|>';
    expect(await shared.count(special, 'o200k_base')).toBeGreaterThan(10);
    const long = special.repeat(1_000);
    expect(await shared.count(long, 'cl100k_base')).toBeGreaterThan(10_000);
  });

  it('of lone surrogates is a number', async () => {
    expect(await shared.count('\ud800\udc00\ud800 \udfff', 'o200k_base')).toBeGreaterThan(0);
    expect(await shared.count('\ud800'.repeat(20_000), 'o200k_base')).toBeGreaterThan(0);
  });

  it('is the same in a thread and on the event loop', async () => {
    const pool = createCountThreads({ workers: 1, program });
    const queue = pool.openQueue(100);
    for (const encoding of ['o200k_base', 'cl100k_base']) {
      const encodingHere = await loadEncoding(encoding);
      const { vocabulary } = encodingHere;
      for (const text of [...Object.values(samples), randomText(20_000), '<|endoftext|>']) {
        const here = countText(text, encodingHere);
        expect(await queue.run({ vocabulary, texts: ['Hello', text] })).toEqual([1, here]);
      }
    }
    await pool.close();
  });

  it('of an unknown encoding fails', async () => {
    await expect(Promise.resolve(shared.count('x', 'p50k_base'))).rejects.toThrow('no tokenizer');
  });

  it('is synchronous for short texts when the vocabulary is loaded', async () => {
    await tokenizer.warmUp(['o200k_base']);
    expect(typeof shared.count('Hello', 'o200k_base')).toBe('number');
  });
});

describe('the event loop', () => {
  it.each<[string, string, CountMethod]>([
    ['text up to the inline limit', 'x '.repeat(MAX_INLINE_BYTES / 2), 'inline'],
    ['text above it', 'x '.repeat(MAX_INLINE_BYTES / 2 + 1), 'worker'],
    ['ideographs up to it, of three bytes each', '\u4e00 '.repeat(MAX_INLINE_BYTES / 4), 'inline'],
    ['ideographs above it', '\u4e00 '.repeat(MAX_INLINE_BYTES / 4 + 1), 'worker'],
    ['a run without spaces up to the inline work', 'a'.repeat(3 * 256), 'inline'],
    ['a run without spaces above it', 'a'.repeat(4 * 256), 'worker'],
    ['200,000 times the same character', 'a'.repeat(200_000), 'worker'],
    ['a megabyte of random text', randomText(1_000_000), 'worker'],
    ['text above the tokenized limit', 'a'.repeat(MAX_TOKENIZED_LENGTH + 1), 'estimated'],
  ])('%s is counted by the expected method', async (_name, text, expected) => {
    const methods: CountMethod[] = [];
    const watched = counter({ onCount: (method) => methods.push(method) });
    const counted = Promise.allSettled([watched.count(text, 'o200k_base')]);
    // The method is chosen synchronously; other tests check the count.
    expect(methods).toEqual([expected]);
    await watched.close();
    await counted;
  });

  it('the metric counts texts by method', async () => {
    const metrics = new Registry();
    const measured = counter({ metrics });
    await measured.count('short', 'o200k_base');
    await measured.count('word '.repeat(4_000), 'o200k_base');
    await measured.count('a'.repeat(MAX_TOKENIZED_LENGTH + 1), 'o200k_base');
    const text = await metrics.metrics();
    for (const method of ['inline', 'worker', 'estimated']) {
      expect(text).toContain(`gateway_tokenizer_counts_total{method="${method}"} 1`);
    }
  });

  it('is not blocked while hostile text is counted', async () => {
    const warm = counter();
    await warm.warmUp(['o200k_base']);
    let counting = true;
    const counted = Promise.resolve(warm.count(randomText(200_000), 'o200k_base')).then((tokens) => {
      counting = false;
      return tokens;
    });
    let turns = 0;
    while (counting) {
      await nextTurn();
      turns += 1;
    }
    expect(await counted).toBeGreaterThan(50_000);
    // A blocked loop would have a few turns at most.
    expect(turns).toBeGreaterThan(20);
  });

  it('text above the tokenized limit counts as one token per three bytes', () => {
    expect(counter().count('я'.repeat(3_000_000), 'o200k_base')).toBe(2_000_000);
  });
});

describe('the threads', () => {
  const long = 'word '.repeat(4_000);

  it('reject texts beyond the queue limit with no_capacity, and count the others', async () => {
    const narrow = counter({ workers: 1, maxQueued: 2 });
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => narrow.count(long, 'o200k_base')));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    expect(results[3]).toMatchObject({ reason: { code: 'no_capacity' } });
    expect(await narrow.count(long, 'o200k_base')).toBe(4_001);
  });

  it('count in parallel', async () => {
    const wide = counter({ workers: 2 });
    const counts = await Promise.all([...Array(8)].map(() => wide.count(long, 'o200k_base')));
    expect(new Set(counts)).toEqual(new Set([4_001]));
  });

  it('reject running and later counts after close', async () => {
    const closing = counter();
    const running = expect(closing.count(long, 'o200k_base')).rejects.toMatchObject({ code: 'no_capacity' });
    const waiting = expect(closing.count(long, 'o200k_base')).rejects.toMatchObject({ code: 'no_capacity' });
    await closing.close();
    await Promise.all([running, waiting]);
    await expect(closing.count(long, 'o200k_base')).rejects.toMatchObject({ code: 'no_capacity' });
  });

  it('are replaced after an exit, and their jobs run once more', async () => {
    const { vocabulary } = await loadEncoding('o200k_base');
    const folder = await mkdtemp(join(tmpdir(), 'tokenizer-'));
    const exitingProgram = join(folder, 'ending.js');
    const ends = `
      const { existsSync, writeFileSync } = require('node:fs');
      const seen = ${JSON.stringify(join(folder, 'seen'))};
      require('node:worker_threads').parentPort.on('message', ({ texts }) => {
        if (texts[0] === 'end once' && !existsSync(seen)) { writeFileSync(seen, ''); process.exit(3); }
        if (texts[0] === 'end') process.exit(3);
      });`;
    // This listener runs first and may end the thread; the worker's own listener then counts.
    await writeFile(exitingProgram, `${ends}\nrequire(${JSON.stringify(workerProgram)});`);
    const pool = createCountThreads({ workers: 1, program: () => exitingProgram });
    const queue = pool.openQueue(10);
    const interrupted = queue.run({ vocabulary, texts: ['end once'] });
    const doomed = expect(queue.run({ vocabulary, texts: ['end'] })).rejects.toThrow('ended with code 3');
    const next = queue.run({ vocabulary, texts: ['Hello'] });
    expect(await interrupted).toEqual([2]);
    await doomed;
    expect(await next).toEqual([1]);
    const broken = { ...vocabulary, encoding: 'broken', words: undefined as unknown as RegExp };
    await expect(queue.run({ vocabulary: broken, texts: ['x'] })).rejects.toThrow('TypeError');
    expect(await queue.run({ vocabulary, texts: ['Hello'] })).toEqual([1]);
    await pool.close();
    await rm(folder, { recursive: true });
  });

  it('alternate between the counters, which have a queue each', async () => {
    const tokenizer = createTokenizer({ program });
    tokenizers.push(tokenizer);
    const busy = tokenizer.openCounter(20);
    const other = tokenizer.openCounter(1);
    const order: string[] = [];
    const noted = (name: string, count: number | Promise<number>) =>
      Promise.resolve(count).then(() => order.push(name));
    const waiting = Array.from({ length: 10 }, () => noted('busy', busy.count(long, 'o200k_base')));
    waiting.push(noted('other', other.count(long, 'o200k_base')));
    await expect(other.count(long, 'o200k_base')).rejects.toMatchObject({ code: 'no_capacity' });
    await Promise.all(waiting);
    // One job was running when the other arrived, and one was next.
    expect(order.indexOf('other')).toBeLessThanOrEqual(2);
  });

  it('alternate between owners, who share a full queue', async () => {
    const shared = counter({ workers: 1, maxQueued: 4 });
    const order: string[] = [];
    const counted = async (owner: string) => {
      const tokens = await shared.countAll([long], 'o200k_base', { owner });
      order.push(owner);
      return tokens;
    };
    // One runs and four wait; the sixth is refused.
    const busy = Promise.allSettled(Array.from({ length: 6 }, () => counted('busy')));
    expect(await counted('other')).toBe(4_001);
    expect(order.length).toBeLessThanOrEqual(3);
    const statuses = (await busy).map(({ status }) => status);
    // The newest one gave up its place.
    expect(statuses).toEqual([...Array<string>(4).fill('fulfilled'), 'rejected', 'rejected']);
  });
});

describe('every counter', () => {
  const methods = new Set<CountMethod>();
  const tokenizer = createTokenizer({ program, onCount: (method) => methods.add(method) });
  const requestCounter = tokenizer.openCounter();
  const responseCounter = tokenizer.openCounter();
  afterAll(() => tokenizer.close());

  // Long runs cost the most, so they are rare, and near the limits of a segment and of the event loop.
  const near = (length: number) => fc.integer({ min: length - 6, max: length + 6 });
  const times = fc.oneof(
    { weight: 6, arbitrary: fc.nat(20) },
    { weight: 1, arbitrary: near(MAX_RUN_LENGTH) },
    { weight: 1, arbitrary: near(3 * MAX_RUN_LENGTH) },
  );
  const texts = fc.array(
    fc
      .tuple(
        fc.constantFrom('a', ' ', '\n', '─', '\u4e00', 'ش', '\u{1f600}', '\udc00', 'word ', '{"id":7},'),
        times,
      )
      .map(([unit, count]) => unit.repeat(count)),
    { maxLength: 6 },
  );

  it('returns the same count, for one text or several', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (parts) => {
        const text = parts.join('');
        const one = await requestCounter.count(text, 'o200k_base');
        expect(await responseCounter.count(text, 'o200k_base')).toBe(one);
        expect(await responseCounter.countAll([text], 'o200k_base')).toBe(one);
        let each = 0;
        for (const part of parts) each += await requestCounter.count(part, 'o200k_base');
        expect(await responseCounter.countAll(parts, 'o200k_base')).toBe(each);
      }),
      { numRuns: Math.min(fuzzRuns().numRuns ?? 100, 500) },
    );
    expect([...methods].sort()).toEqual(['inline', 'worker']);
  }, 120_000);

  it('returns the same count of 1.5 million characters', async () => {
    for (const text of ['a'.repeat(1_500_000), 'word after word '.repeat(93_750)]) {
      const one = await requestCounter.count(text, 'o200k_base');
      expect(one).toBeLessThan(text.length / 4);
      expect(await responseCounter.countAll([text], 'o200k_base')).toBe(one);
    }
  });
});

it('an idle thread is ended, and the next text starts another', async () => {
  const { vocabulary } = await loadEncoding('o200k_base');
  const folder = await mkdtemp(join(tmpdir(), 'tokenizer-'));
  const numbered = join(folder, 'numbered.js');
  await writeFile(
    numbered,
    `const { parentPort, threadId } = require('node:worker_threads');
     parentPort.on('message', ({ id }) => parentPort.postMessage({ id, tokens: [threadId] }));`,
  );
  const pool = createCountThreads({ workers: 1, idleThreadMs: 20, program: () => numbered });
  const queue = pool.openQueue(10);
  const [first] = await queue.run({ vocabulary, texts: ['x'] });
  expect(await queue.run({ vocabulary, texts: ['x'] })).toEqual([first]);
  let next = first;
  for (let waitMs = 20; next === first; waitMs *= 2) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    [next] = await queue.run({ vocabulary, texts: ['x'] });
  }
  await pool.close();
  await rm(folder, { recursive: true });
});

it('a production bundle returns the same counts', async () => {
  // Inside node_modules, so that the bundle finds external packages.
  const cache = join(process.cwd(), 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'token-counter-'));
  try {
    const outfile = join(folder, 'bundle.cjs');
    const bundle = {
      bundle: true,
      platform: 'node',
      format: 'cjs',
      packages: 'external',
      minify: true,
      tsconfig: 'tsconfig.base.json',
    } as const;
    await build({ ...bundle, entryPoints: [WORKER], outfile: join(folder, 'count-worker.js') });
    await build({
      ...bundle,
      stdin: {
        contents: `
          import { createTokenizer } from './libs/platform/tokenizer/src';
          const tokenizer = createTokenizer();
          const counter = tokenizer.openCounter(2);
          Promise.all([counter.count('Hello', 'o200k_base'), counter.count('word '.repeat(4_000), 'cl100k_base')])
            .then((counts) => tokenizer.close().then(() => process.stdout.write(JSON.stringify(counts))));`,
        resolveDir: process.cwd(),
        loader: 'ts',
      },
      outfile,
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
    expect(JSON.parse(stdout)).toEqual([1, 4_001]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
