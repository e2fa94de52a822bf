import { createTokenizer, type CountingWay } from '@gateway/tokenizer';

const ENCODING = 'o200k_base';
/** Counts per text; each has letters of its own, since a tokenizer remembers what it has seen. */
const ROUNDS = 7;

export interface TokenizerRow {
  readonly text: string;
  readonly characters: number;
  readonly tokens: number;
  readonly way: CountingWay;
  /**
   * The longest time that the event loop stood still in a round, in
   * milliseconds: the median of the rounds, and the longest. Only the latter has
   * the moments in it when the machine gave the core to someone else.
   */
  readonly blockMs: number;
  readonly longestBlockMs: number;
  /** From asking to the answer, in milliseconds; the median. */
  readonly countMs: number;
}

type Letters = (length: number, first: number, count: number) => string;

/** Texts that are much work for a tokenizer: no spaces, many bytes a letter, letters that seldom meet. */
const HOSTILE: Readonly<Record<string, (letters: Letters) => string>> = {
  'emoji, 15,000': (letters) => letters(15_000, 0x1f300, 600),
  'one emoji, 15,000': () => '\u{1f600}'.repeat(7_500),
  'Arabic without spaces, 8,000': (letters) => letters(8_000, 0x0627, 35),
  'Arabic without spaces, 4,000': (letters) => letters(4_000, 0x0627, 35),
  '─, 8,000': () => '─'.repeat(8_000),
  '─, 2,700': () => '─'.repeat(2_700),
  'ideographs, 2,700': (letters) => letters(2_700, 0x4e00, 20_000),
  'ideographs, 750': (letters) => letters(750, 0x4e00, 20_000),
  'ideographs, 200,000': (letters) => letters(200_000, 0x4e00, 20_000),
  'Hangul, 2,700': (letters) => letters(2_700, 0xac00, 11_000),
  'Thai, 2,700': (letters) => letters(2_700, 0x0e01, 58),
  'letters, 8,000': (letters) => letters(8_000, 97, 26),
  'words of 48 letters, 8,000': (letters) => `${letters(48, 97, 26)} `.repeat(163),
  'letters, 1,000,000': (letters) => letters(1_000_000, 97, 26),
  'one letter, 1,500,000': () => 'a'.repeat(1_500_000),
  'signs, 8,000': (letters) => letters(8_000, 33, 14),
  'digits, 8,000': (letters) => letters(8_000, 48, 10),
  'spaces, 8,000': () => ' '.repeat(8_000),
  'combining accents, 4,000': () => 'a\u0301\u0302\u0303'.repeat(1_000),
  'prose, 8,000': () => 'The gateway holds the amount first. '.repeat(222),
};

/** Counts hostile texts as edge and router do, and tells how long the event loop stood still. */
export async function measureTokenizer(): Promise<TokenizerRow[]> {
  let way: CountingWay = 'inline';
  const tokenizer = createTokenizer({ onCount: (taken) => (way = taken) });
  const counter = tokenizer.openCounter({ maxWaiting: 1 });
  try {
    await tokenizer.warmUp([ENCODING]);
    await counter.count('a thread and compiled code '.repeat(1_000), ENCODING);
    const rows: TokenizerRow[] = [];
    for (const [text, make] of Object.entries(HOSTILE)) {
      const counts: Watched[] = [];
      let content = '';
      for (let round = 0; round < ROUNDS; round += 1) {
        content = asParsed(make(lettersFrom(rows.length * ROUNDS + round)));
        counts.push(await watchLoop(() => counter.count(content, ENCODING)));
      }
      const blocks = counts.map(({ blockMs }) => blockMs);
      rows.push({
        text,
        characters: content.length,
        tokens: counts[0]?.tokens ?? 0,
        way,
        blockMs: median(blocks),
        longestBlockMs: Math.max(...blocks),
        countMs: median(counts.map(({ totalMs }) => totalMs)),
      });
    }
    return rows;
  } finally {
    await tokenizer.close();
  }
}

export function renderTokenizer(rows: readonly TokenizerRow[]): string {
  const lines = rows.map(
    ({ text, tokens, way, blockMs, longestBlockMs, countMs }) =>
      `${text.padEnd(30)} ${tokens.toLocaleString('en').padStart(9)}  ${way.padEnd(7)} ${columns(blockMs, longestBlockMs, countMs)}`,
  );
  const longest = Math.max(...rows.map(({ blockMs }) => blockMs));
  return [
    `${'text, characters'.padEnd(30)} ${'tokens'.padStart(9)}  ${'counted'.padEnd(7)} ${'block ms'.padStart(9)} ${'worst ms'.padStart(9)} ${'count ms'.padStart(9)}`,
    ...lines,
    `longest block of the event loop (median of ${ROUNDS} rounds): ${longest.toFixed(1)} ms`,
    '',
  ].join('\n');
}

function columns(...ms: readonly number[]): string {
  return ms.map((each) => each.toFixed(1).padStart(9)).join(' ');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

interface Watched {
  readonly tokens: number;
  readonly blockMs: number;
  readonly totalMs: number;
}

async function watchLoop(count: () => number | Promise<number>): Promise<Watched> {
  let watching = true;
  let blockMs = 0;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    blockMs = Math.max(blockMs, now - last);
    last = now;
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  await new Promise(setImmediate);
  blockMs = 0;
  const start = performance.now();
  const tokens = await count();
  const totalMs = performance.now() - start;
  // What was counted on the spot is a block that is only seen afterwards.
  await new Promise(setImmediate);
  watching = false;
  return { tokens, blockMs, totalMs };
}

/**
 * The text as JSON.parse would give it. One that was put together from a million
 * pieces is put in one row by whoever reads it first, which takes 7 ms and would
 * be told of the tokenizer.
 */
function asParsed(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

function lettersFrom(seed: number): Letters {
  let state = seed + 1;
  return (length, first, count) => {
    let text = '';
    while (text.length < length) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      text += String.fromCodePoint(first + ((state >>> 8) % count));
    }
    return text;
  };
}
