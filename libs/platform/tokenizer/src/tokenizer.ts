import { existsSync } from 'node:fs';
import path from 'node:path';
import { Counter, type Registry } from 'prom-client';
import { blocksOf } from './blocks';
import { CountMemory } from './count-memory';
import { countText } from './count-text';
import { loadEncoding, type Encoding } from './encodings';
import { tokenizingWork } from './pieces';
import { WorkerPool } from './worker-pool';

/** Texts of more bytes of UTF-8 are counted in a thread. */
export const MAX_INLINE_BYTES = 8_192;

/**
 * So are texts that are more work than this, in units of `tokenizingWork`: two
 * milliseconds at most. Prose of the inline size has a tenth of it; three
 * unbroken runs of 256 characters fill it.
 */
export const MAX_INLINE_WORK = 200_000;

/**
 * Texts above this many UTF-16 code units are not tokenized: their size is
 * taken for it. The limit is a size, never a time, so that the same text always
 * counts the same.
 */
export const MAX_TOKENIZED_LENGTH = 2_000_000;
const BYTES_PER_TOKEN_BY_SIZE = 3;

const PROGRAM = 'count-worker.js';
const ROOT = '../../../..';

/** Of longer texts nothing is looked up, since that takes a microsecond for each kilobyte. */
const MAX_LOOKED_UP_LENGTH = 500_000;

/** How texts were counted, or what was not remembered of them. */
export type CountingWay = 'memory' | 'inline' | 'worker' | 'by_size';

/**
 * Counts the tokens of texts. The same texts and encoding always give the same
 * count, however loaded the process is, whoever asks, and whatever is
 * remembered. Answers at once or later, and never holds up the event loop for
 * more than some 3 ms. A count that cannot be taken now rejects with the
 * GatewayError `no_capacity`.
 */
export interface TokenCounter {
  /**
   * Of one text.
   *
   * @param owner - the id of whose text it is, when parts of it are likely to come again: what they
   *   count is remembered for this owner. Makes no difference to the count.
   */
  count(text: string, encoding: string, owner?: string): number | Promise<number>;
  /** Of several texts, added up. One text counts as with `count`. */
  countAll(texts: readonly string[], encoding: string): number | Promise<number>;
  /** Of a text above MAX_TOKENIZED_LENGTH that is not at hand; the same as `count` says of it. */
  countSize(size: TextSize): number;
}

/** The size of a text. */
export interface TextSize {
  /** UTF-16 code units. */
  readonly length: number;
  /** Of UTF-8. */
  readonly bytes: number;
}

export interface TokenizerOptions {
  /** Threads for long texts, shared by all counters. */
  readonly workers?: number;
  /** Path of the bundled `count-worker.ts`, which the build puts next to the program when absent. */
  readonly program?: () => string;
  /** Told of each count. */
  readonly onCount?: (way: CountingWay) => void;
  /** Counts the counts by their way. */
  readonly metrics?: Registry;
}

export interface TokenCounterOptions {
  /** Long counts that may wait for a thread at once; more are refused with `no_capacity`. */
  readonly maxWaiting: number;
}

/** One per process: vocabularies and threads take memory. */
export interface Tokenizer {
  /** A counter with a queue of its own; the queues take turns at the threads. */
  openCounter(options: TokenCounterOptions): TokenCounter;
  /** Loads vocabularies before the first text needs them: some 5 MB and 50 ms of this thread for each. */
  warmUp(encodings: readonly string[]): Promise<void>;
  /** Rejects what is still being counted. */
  close(): Promise<void>;
}

/** The tokenizer for the encodings o200k_base and cl100k_base. */
export function createTokenizer({
  workers = 1,
  program = builtProgram,
  metrics,
  onCount = metrics ? countWays(metrics) : () => undefined,
}: TokenizerOptions = {}): Tokenizer {
  const pool = new WorkerPool({ workers, program });
  const loaded = new Map<string, Encoding>();
  const memory = new CountMemory();

  async function load(name: string): Promise<Encoding> {
    const encoding = await loadEncoding(name);
    loaded.set(name, encoding);
    return encoding;
  }

  return {
    openCounter({ maxWaiting }) {
      const lane = pool.openLane(maxWaiting);

      function countAll(texts: readonly string[], encoding: string): number | Promise<number> {
        const way = wayOf(texts);
        if (way === 'by_size') {
          onCount(way);
          return tokensBySize(sizeOf(texts, Buffer.byteLength));
        }
        const counts = countEach(texts, encoding, way);
        return counts instanceof Promise ? counts.then(total) : total(counts);
      }

      function count(text: string, encoding: string, owner?: string): number | Promise<number> {
        if (owner === undefined || text.length > MAX_LOOKED_UP_LENGTH) return countAll([text], encoding);
        let known = 0;
        const unknown: string[] = [];
        const keys: (string | undefined)[] = [];
        for (const block of blocksOf(text)) {
          const key = memory.keyOf(block, encoding, owner);
          const tokens = key === undefined ? undefined : memory.recall(key);
          if (tokens !== undefined) known += tokens;
          else {
            unknown.push(block);
            keys.push(key);
          }
        }
        if (unknown.length === 0) {
          onCount('memory');
          return known;
        }
        const learn = (counts: Counts): number => {
          counts.forEach((tokens, index) => {
            const key = keys[index];
            if (key !== undefined) memory.remember(key, tokens);
          });
          return known + total(counts);
        };
        const counts = countEach(unknown, encoding, wayOf(unknown));
        return counts instanceof Promise ? counts.then(learn) : learn(counts);
      }

      /** Of each text, none of which is counted by its size. */
      function countEach(
        texts: readonly string[],
        encoding: string,
        way: Exclude<CountingWay, 'memory'>,
      ): Counts | Promise<Counts> {
        onCount(way);
        const countWith = (loadedEncoding: Encoding): Counts | Promise<Counts> =>
          way === 'inline'
            ? texts.map((text) => countText(text, loadedEncoding))
            : lane.count(loadedEncoding.vocabulary, texts);
        const known = loaded.get(encoding);
        return known ? countWith(known) : load(encoding).then(countWith);
      }

      function countSize({ length, bytes }: TextSize): number {
        if (length <= MAX_TOKENIZED_LENGTH) throw new Error('a text of this size is counted by what it says');
        onCount('by_size');
        return tokensBySize(bytes);
      }

      return { count, countAll, countSize };
    },
    async warmUp(encodings) {
      for (const encoding of encodings) await load(encoding);
    },
    close: () => pool.close(),
  };
}

type Counts = readonly number[];

/** By the texts alone: neither load nor time has a say. */
function wayOf(texts: readonly string[]): Exclude<CountingWay, 'memory'> {
  const length = sizeOf(texts, (text) => text.length);
  if (length > MAX_TOKENIZED_LENGTH) return 'by_size';
  const isShort = length <= MAX_INLINE_BYTES && sizeOf(texts, Buffer.byteLength) <= MAX_INLINE_BYTES;
  return isShort && sizeOf(texts, tokenizingWork) <= MAX_INLINE_WORK ? 'inline' : 'worker';
}

function tokensBySize(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN_BY_SIZE);
}

function sizeOf(texts: readonly string[], measure: (text: string) => number): number {
  let size = 0;
  for (const text of texts) size += measure(text);
  return size;
}

function total(counts: Counts): number {
  let tokens = 0;
  for (const count of counts) tokens += count;
  return tokens;
}

/** Tests that run from the sources use the program of the built gateway. */
function builtProgram(): string {
  const besideBundle = path.join(__dirname, PROGRAM);
  return existsSync(besideBundle) ? besideBundle : path.resolve(__dirname, ROOT, 'dist/gateway', PROGRAM);
}

function countWays(metrics: Registry): (way: CountingWay) => void {
  const texts = new Counter({
    name: 'gateway_tokenizer_counts_total',
    help: 'Token counts by method: cached, on the event loop (inline), in a worker thread (worker), or estimated from the size of the text (estimated).',
    labelNames: ['method'],
    registers: [metrics],
  });
  const bound = {
    memory: texts.labels('cached'),
    inline: texts.labels('inline'),
    worker: texts.labels('worker'),
    by_size: texts.labels('estimated'),
  };
  return (way) => bound[way].inc();
}
