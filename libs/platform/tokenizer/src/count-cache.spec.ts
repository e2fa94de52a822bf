import fc from 'fast-check';
import { bundleProgram, fuzzRuns } from '@gateway/test-support';
import { blocksOf, MAX_LINES_LENGTH } from './blocks';
import { loadEncoding, type Encoding } from './encodings';
import { CountCache, MIN_CACHED_LENGTH } from './count-cache';
import { createTokenizer, type CountMethod } from './tokenizer';

const workerProgram = bundleProgram('libs/platform/tokenizer/src/count-worker.ts');
const program = () => workerProgram;

const ENCODINGS = ['o200k_base', 'cl100k_base'] as const;

const counters = new Map<string, Encoding>();
beforeAll(async () => {
  for (const encoding of ENCODINGS) counters.set(encoding, await loadEncoding(encoding));
});

const unit = fc.constantFrom(
  ...['a', 'Z', '7', ' ', '  ', '\n', '\r\n', '\r', '\t', '/', '.', '"', '-', "'s", '\u00a0', '\u2028'],
  ...['\u4e00', '\u{1f600}', '\ud800', '\udc00', 'word', ' word', 'x = 1;\n', '<|endoftext|>'],
);
const text = fc.array(unit, { maxLength: 120 }).map((units) => units.join(''));

it.each(ENCODINGS)('splitting between lines does not change counts of %s', (encoding) => {
  const { count } = counters.get(encoding) as Encoding;
  fc.assert(
    fc.property(text, (whole) => {
      // Splits at every line where a block may end.
      const blocks = blocksOf(whole, 1, 1);
      expect(blocks.join('')).toBe(whole);
      expect(blocks.reduce((sum, block) => sum + count(block), 0)).toBe(count(whole));
    }),
    fuzzRuns(),
  );
});

describe('a cached count', () => {
  it.each(['inline', 'worker'])('equals the count without a cache (%s)', async (method) => {
    const tokenizer = createTokenizer({ program });
    const counter = tokenizer.openCounter(1);
    const long = method === 'worker' ? 'a\n'.repeat(10_000) : '';
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(text, { minLength: 1, maxLength: 6 }),
          fc.constantFrom(...ENCODINGS),
          fc.constantFrom('one', 'other'),
          async (texts, encoding, owner) => {
            // A growing conversation, whose start is repeated.
            for (let messages = 1; messages <= texts.length; messages += 1) {
              const history = texts.slice(0, messages).join('\n') + long;
              const plain = await counter.count(history, encoding);
              expect(await counter.count(history, encoding, { owner })).toBe(plain);
              expect(await counter.count(history, encoding, { owner })).toBe(plain);
            }
          },
        ),
        method === 'worker' ? { ...fuzzRuns(), numRuns: 5 } : fuzzRuns(),
      );
    } finally {
      await tokenizer.close();
    }
  });
});

it('splitting a block yields that block, and a text after an inserted start soon has the same blocks', () => {
  const lines = fc.array(fc.constantFrom('one line', 'Another, longer one.', '', ' - x', '7 of 9'), {
    minLength: 100,
    maxLength: 300,
  });
  fc.assert(
    fc.property(lines, fc.string({ maxLength: 500 }), (given, before) => {
      const split = (whole: string): string[] => blocksOf(whole);
      const blocks = split(given.join('\n'));
      for (const block of blocks) expect(split(block)).toEqual([block]);
      const shifted = new Set(split(`${before}\n${given.join('\n')}`));
      const lost = blocks.filter((block) => !shifted.has(block));
      expect(lost.join('').length).toBeLessThan(2 * MAX_LINES_LENGTH);
    }),
    fuzzRuns(),
  );
});

describe('the cache', () => {
  // Its last line is long enough to be cached.
  const message = (number: number): string =>
    `${lines(number)}\nThat was all of message ${number}, ${'and it is reported at great length '.repeat(2)}.`;
  const lines = (number: number): string =>
    Array.from({ length: 40 }, (_, line) => `Line ${line} of message ${number}, the same each time.`).join(
      '\n',
    );

  it('avoids counting the known part of a conversation, and all of a repeated text', async () => {
    const methods: CountMethod[] = [];
    const tokenizer = createTokenizer({ program, onCount: (method) => methods.push(method) });
    const counter = tokenizer.openCounter(1);
    const history = Array.from({ length: 10 }, (_, number) => message(number)).join('\n');
    const texts = [history, history, `${history}\n${message(10)}`];
    for (const each of texts) await counter.count(each, 'o200k_base', { owner: 'org-1' });
    // Other owners, and a truncated start.
    await counter.count(history, 'o200k_base', { owner: 'org-2' });
    await counter.count(history.slice(3_000), 'o200k_base', { owner: 'org-1' });
    await counter.count(history, 'o200k_base');
    await tokenizer.close();
    expect(methods).toEqual(['worker', 'cached', 'inline', 'worker', 'inline', 'worker']);
  });

  const block = (number: number): string => `${number} `.padEnd(MIN_CACHED_LENGTH, 'x');

  it('is separate for each owner and encoding', () => {
    const cache = new CountCache();
    const key = (owner: string, encoding: string): string => cache.keyOf(block(1), encoding, owner) as string;
    cache.set(key('org-1', 'o200k_base'), 7);
    expect(cache.get(key('org-1', 'o200k_base'))).toBe(7);
    expect(cache.get(key('org-2', 'o200k_base'))).toBeUndefined();
    expect(cache.get(key('org-1', 'cl100k_base'))).toBeUndefined();
  });

  it('has unpredictable keys that differ when the text differs', () => {
    const keyOf = (cache: CountCache, text: string) => cache.keyOf(text, 'o200k_base', 'org-1');
    const cache = new CountCache();
    expect(keyOf(cache, block(1))).toBe(keyOf(cache, block(1)));
    expect(keyOf(cache, block(1))).not.toBe(keyOf(cache, block(2)));
    expect(keyOf(cache, block(1))).not.toBe(keyOf(new CountCache(), block(1)));
  });

  it('is bounded: recently used entries stay, others are evicted', () => {
    const cache = new CountCache({ maxBlocks: 10 });
    cache.set('used', 0);
    for (let number = 0; number < 1_000; number += 1) {
      cache.set(`${number}`, number);
      expect(cache.get('used')).toBe(0);
    }
    const remaining = Array.from({ length: 1_000 }, (_, number) => cache.get(`${number}`)).filter(
      (tokens) => tokens !== undefined,
    );
    expect(remaining.length).toBeGreaterThan(5);
    expect(remaining.length).toBeLessThan(20);
  });

  it('does not contain short blocks, or blocks with unpaired surrogates', () => {
    const cache = new CountCache();
    const keyOf = (text: string) => cache.keyOf(text, 'o200k_base', 'org-1');
    expect(keyOf('x'.repeat(MIN_CACHED_LENGTH - 1))).toBeUndefined();
    expect(keyOf(`${block(1)}\ud800`)).toBeUndefined();
    expect(keyOf(`${block(1)}\ufffd`)).toBeDefined();
    expect(keyOf(`${block(1)}\u{1f600}`)).toBeDefined();
  });
});
