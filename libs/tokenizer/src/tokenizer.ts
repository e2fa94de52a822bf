import { Counter, type Registry } from 'prom-client';
import { encodingPath, loadEncoding, type CountPiece } from './encodings';
import { MAX_PIECE_LENGTH, MAX_RUN_LENGTH, piecesOf, tokenizingWork } from './pieces';
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

/** How texts were counted. */
export type CountingWay = 'inline' | 'worker' | 'by_size';

/**
 * Counts the tokens of texts. The same texts and encoding always give the same
 * count, however loaded the process is and whoever asks. Answers at once or
 * later, and never holds up the event loop for more than some 3 ms. A count that
 * cannot be taken now rejects with the GatewayError `no_capacity`.
 */
export interface TokenCounter {
  /** Of one text. */
  count(text: string, encoding: string): number | Promise<number>;
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
  /**
   * Loads vocabularies before the first text needs them: some 50 MB and 0.2 s of
   * this thread for each. A thread for long texts loads its own when the first
   * such text comes.
   */
  warmUp(encodings: readonly string[]): Promise<void>;
  /** Rejects what is still being counted. */
  close(): Promise<void>;
}

/** The tokenizer over gpt-tokenizer, for the encodings o200k_base and cl100k_base. */
export function createTokenizer({
  workers = 1,
  metrics,
  onCount = metrics ? countWays(metrics) : () => undefined,
}: TokenizerOptions = {}): Tokenizer {
  const pool = new WorkerPool({ workers });
  const loaded = new Map<string, CountPiece>();

  async function load(encoding: string): Promise<CountPiece> {
    const countPiece = await loadEncoding(encoding);
    loaded.set(encoding, countPiece);
    return countPiece;
  }

  function countInline(texts: readonly string[], encoding: string): number | Promise<number> {
    const countPiece = loaded.get(encoding);
    return countPiece ? sum(texts, countPiece) : load(encoding).then((loadedNow) => sum(texts, loadedNow));
  }

  return {
    openCounter({ maxWaiting }) {
      const lane = pool.openLane(maxWaiting);

      function countAll(texts: readonly string[], encoding: string): number | Promise<number> {
        const way = wayOf(texts);
        onCount(way);
        switch (way) {
          case 'inline':
            return countInline(texts, encoding);
          case 'worker':
            return lane.count(encodingPath(encoding), texts);
          case 'by_size':
            return tokensBySize(sizeOf(texts, Buffer.byteLength));
        }
      }

      function countSize({ length, bytes }: TextSize): number {
        if (length <= MAX_TOKENIZED_LENGTH) throw new Error('a text of this size is counted by what it says');
        onCount('by_size');
        return tokensBySize(bytes);
      }

      return { countAll, countSize, count: (text, encoding) => countAll([text], encoding) };
    },
    async warmUp(encodings) {
      for (const encoding of encodings) await load(encoding);
    },
    close: () => pool.close(),
  };
}

/** By the texts alone: neither load nor time has a say. */
function wayOf(texts: readonly string[]): CountingWay {
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

function sum(texts: readonly string[], countPiece: CountPiece): number {
  let tokens = 0;
  for (const text of texts) {
    for (const piece of piecesOf(text, MAX_PIECE_LENGTH, MAX_RUN_LENGTH)) tokens += countPiece(piece);
  }
  return tokens;
}

function countWays(metrics: Registry): (way: CountingWay) => void {
  const texts = new Counter({
    name: 'gateway_tokenizer_counts_total',
    help: 'Token counts, by the way: on the event loop (inline), in a thread (worker), or taken from the size (by_size).',
    labelNames: ['way'],
    registers: [metrics],
  });
  const bound = {
    inline: texts.labels('inline'),
    worker: texts.labels('worker'),
    by_size: texts.labels('by_size'),
  };
  return (way) => bound[way].inc();
}
