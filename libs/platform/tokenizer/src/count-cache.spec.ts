import fc from 'fast-check';
import { bundleProgram, fuzzRuns } from '@gateway/test-support';
import { blocksOf, MAX_LINES_LENGTH } from './blocks';
import { loadEncoding, type Encoding } from './encodings';
import { CountMemory, MIN_REMEMBERED_LENGTH } from './count-memory';
import { createTokenizer, type CountingWay } from './tokenizer';

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

it.each(ENCODINGS)('a cut between lines changes no count of %s', (encoding) => {
  const { count } = counters.get(encoding) as Encoding;
  fc.assert(
    fc.property(text, (whole) => {
      // At every line where a block may end.
      const blocks = blocksOf(whole, 1, 1);
      expect(blocks.join('')).toBe(whole);
      expect(blocks.reduce((sum, block) => sum + count(block), 0)).toBe(count(whole));
    }),
    fuzzRuns(),
  );
});

describe('a count from memory', () => {
  it.each(['inline', 'worker'])('is the count without one (%s)', async (way) => {
    const tokenizer = createTokenizer({ program });
    const counter = tokenizer.openCounter({ maxWaiting: 1 });
    const long = way === 'worker' ? 'a\n'.repeat(10_000) : '';
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(text, { minLength: 1, maxLength: 6 }),
          fc.constantFrom(...ENCODINGS),
          fc.constantFrom('one', 'other'),
          async (texts, encoding, owner) => {
            // A conversation that grows: its beginning comes again and again.
            for (let messages = 1; messages <= texts.length; messages += 1) {
              const history = texts.slice(0, messages).join('\n') + long;
              const plain = await counter.count(history, encoding);
              expect(await counter.count(history, encoding, owner)).toBe(plain);
              expect(await counter.count(history, encoding, owner)).toBe(plain);
            }
          },
        ),
        way === 'worker' ? { ...fuzzRuns(), numRuns: 5 } : fuzzRuns(),
      );
    } finally {
      await tokenizer.close();
    }
  });
});

it('a block is one block again, and one that begins anew is soon cut as before', () => {
  const lines = fc.array(fc.constantFrom('one line', 'Another, longer one.', '', ' - x', '7 of 9'), {
    minLength: 100,
    maxLength: 300,
  });
  fc.assert(
    fc.property(lines, fc.string({ maxLength: 500 }), (given, before) => {
      const cut = (whole: string): string[] => blocksOf(whole);
      const blocks = cut(given.join('\n'));
      for (const block of blocks) expect(cut(block)).toEqual([block]);
      const shifted = new Set(cut(`${before}\n${given.join('\n')}`));
      const lost = blocks.filter((block) => !shifted.has(block));
      expect(lost.join('').length).toBeLessThan(2 * MAX_LINES_LENGTH);
    }),
    fuzzRuns(),
  );
});

describe('what is remembered', () => {
  // Its last line is long enough to be remembered by itself.
  const message = (number: number): string =>
    `${lines(number)}\nThat was all of message ${number}, ${'and it is told at some length '.repeat(2)}.`;
  const lines = (number: number): string =>
    Array.from({ length: 40 }, (_, line) => `Line ${line} of message ${number}, the same each time.`).join(
      '\n',
    );

  it('is not counted again: of a conversation what is new, of a repetition nothing', async () => {
    const ways: CountingWay[] = [];
    const tokenizer = createTokenizer({ program, onCount: (way) => ways.push(way) });
    const counter = tokenizer.openCounter({ maxWaiting: 1 });
    const history = Array.from({ length: 10 }, (_, number) => message(number)).join('\n');
    const asked = [history, history, `${history}\n${message(10)}`];
    for (const each of asked) await counter.count(each, 'o200k_base', 'org-1');
    // Others, and what was cut off in front.
    await counter.count(history, 'o200k_base', 'org-2');
    await counter.count(history.slice(3_000), 'o200k_base', 'org-1');
    await counter.count(history, 'o200k_base');
    await tokenizer.close();
    expect(ways).toEqual(['worker', 'memory', 'inline', 'worker', 'inline', 'worker']);
  });

  const block = (number: number): string => `${number} `.padEnd(MIN_REMEMBERED_LENGTH, 'x');

  it('belongs to its owner and its encoding', () => {
    const memory = new CountMemory();
    const key = (owner: string, encoding: string): string =>
      memory.keyOf(block(1), encoding, owner) as string;
    memory.remember(key('org-1', 'o200k_base'), 7);
    expect(memory.recall(key('org-1', 'o200k_base'))).toBe(7);
    expect(memory.recall(key('org-2', 'o200k_base'))).toBeUndefined();
    expect(memory.recall(key('org-1', 'cl100k_base'))).toBeUndefined();
  });

  it('has keys that nobody can know, whose text differs when the text does', () => {
    const keyOf = (memory: CountMemory, text: string) => memory.keyOf(text, 'o200k_base', 'org-1');
    const memory = new CountMemory();
    expect(keyOf(memory, block(1))).toBe(keyOf(memory, block(1)));
    expect(keyOf(memory, block(1))).not.toBe(keyOf(memory, block(2)));
    expect(keyOf(memory, block(1))).not.toBe(keyOf(new CountMemory(), block(1)));
  });

  it('is bounded: what was used last stays, the rest is forgotten', () => {
    const memory = new CountMemory({ maxBlocks: 10 });
    memory.remember('used', 0);
    for (let number = 0; number < 1_000; number += 1) {
      memory.remember(`${number}`, number);
      expect(memory.recall('used')).toBe(0);
    }
    const kept = Array.from({ length: 1_000 }, (_, number) => memory.recall(`${number}`)).filter(
      (tokens) => tokens !== undefined,
    );
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThan(20);
  });

  it('is no block too short to be worth it, and none whose bytes are those of another', () => {
    const memory = new CountMemory();
    const keyOf = (text: string) => memory.keyOf(text, 'o200k_base', 'org-1');
    expect(keyOf('x'.repeat(MIN_REMEMBERED_LENGTH - 1))).toBeUndefined();
    expect(keyOf(`${block(1)}\ud800`)).toBeUndefined();
    expect(keyOf(`${block(1)}\ufffd`)).toBeDefined();
    expect(keyOf(`${block(1)}\u{1f600}`)).toBeDefined();
  });
});
