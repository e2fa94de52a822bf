import { Counter, type Registry } from 'prom-client';
import { encodingPath, loadEncoding, type CountPiece } from './encodings';
import { piecesOf } from './pieces';
import { WorkerPool } from './worker-pool';

/**
 * Texts up to this many bytes of UTF-8 are counted on the spot: in bytes, since
 * that is what a tokenizer works on. English takes less than 1 ms, the worst
 * that was found, random ideographs, 5 to 10.
 */
export const MAX_INLINE_BYTES = 8_192;

/**
 * Texts above this many UTF-16 code units are not tokenized: their size is
 * taken for it. The limit is a size, never a time, so that the same text always
 * counts the same.
 */
export const MAX_TOKENIZED_LENGTH = 2_000_000;
const BYTES_PER_TOKEN_BY_SIZE = 3;

/**
 * Counts the tokens of a text. The same text and encoding always give the same
 * count, however loaded the process is. Answers at once or later; a count that
 * cannot be taken now rejects with the GatewayError `no_capacity`.
 */
export interface TokenCounter {
  count(text: string, encoding: string): number | Promise<number>;
}

/** How a text was counted. */
export type CountingWay = 'inline' | 'worker' | 'by_size';

export interface TokenCounterOptions {
  /** Threads for long texts. */
  readonly workers?: number;
  /** Long texts that may wait for a thread; more are refused with `no_capacity`. */
  readonly maxQueuedTexts?: number;
  /** Told of each count. */
  readonly onCount?: (way: CountingWay) => void;
  /** Counts the texts by the way they were counted. */
  readonly metrics?: Registry;
}

export interface ClosableTokenCounter extends TokenCounter {
  /**
   * Loads vocabularies before the first request needs them: some 50 MB and 0.2 s
   * of this thread for each. A thread for long texts loads its own when the
   * first such text comes.
   */
  warmUp(encodings: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** The token counter over gpt-tokenizer, for the encodings o200k_base and cl100k_base. */
export function createTokenCounter({
  workers = 1,
  maxQueuedTexts = 64,
  metrics,
  onCount = metrics ? countWays(metrics) : () => undefined,
}: TokenCounterOptions = {}): ClosableTokenCounter {
  const pool = new WorkerPool({ workers, maxQueuedJobs: maxQueuedTexts });
  const loaded = new Map<string, CountPiece>();

  async function load(encoding: string): Promise<CountPiece> {
    const countPiece = await loadEncoding(encoding);
    loaded.set(encoding, countPiece);
    return countPiece;
  }

  function countInline(text: string, encoding: string): number | Promise<number> {
    const countPiece = loaded.get(encoding);
    const sum = (count: CountPiece): number =>
      piecesOf(text).reduce((total, piece) => total + count(piece), 0);
    return countPiece ? sum(countPiece) : load(encoding).then(sum);
  }

  return {
    count(text, encoding) {
      if (text.length <= MAX_INLINE_BYTES && Buffer.byteLength(text) <= MAX_INLINE_BYTES) {
        onCount('inline');
        return countInline(text, encoding);
      }
      if (text.length <= MAX_TOKENIZED_LENGTH) {
        onCount('worker');
        return pool.count(encodingPath(encoding), piecesOf(text));
      }
      onCount('by_size');
      return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN_BY_SIZE);
    },
    async warmUp(encodings) {
      for (const encoding of encodings) await load(encoding);
    },
    close: () => pool.close(),
  };
}

function countWays(metrics: Registry): (way: CountingWay) => void {
  const texts = new Counter({
    name: 'gateway_edge_proxy_token_counts_total',
    help: 'Texts whose tokens were counted, by the way: on the event loop (inline), in a thread (worker), or taken from their size (by_size).',
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
