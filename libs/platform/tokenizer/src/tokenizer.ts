import type { JobCaller } from '@gateway/base';
import { threadProgram } from '@gateway/runtime';
import { Counter, type Registry } from 'prom-client';
import { blocksOf } from './blocks';
import { CountCache } from './count-cache';
import { countText } from './count-text';
import { loadEncoding, type Encoding } from './encodings';
import { tokenizingWork } from './segments';
import { createCountThreads } from './count-threads';

/** Longer texts, in UTF-8 bytes, are counted in a thread. */
export const MAX_INLINE_BYTES = 8_192;

/**
 * So are texts with more work than this, in units of `tokenizingWork`: at most 2 ms.
 * Prose of the inline size has a tenth of it; three unbroken runs of 256 characters
 * reach it.
 */
export const MAX_INLINE_WORK = 200_000;

/**
 * Texts with more UTF-16 code units are estimated from their size. The limit is a
 * size and not a time, so that equal texts always have equal counts.
 */
export const MAX_TOKENIZED_LENGTH = 2_000_000;
const BYTES_PER_TOKEN_BY_SIZE = 3;

const PROGRAM = 'count-worker.js';

/** Longer texts are not cached, since hashing takes 1 µs per kilobyte. */
const MAX_CACHED_TEXT_LENGTH = 500_000;

/** How a text, or its part that was not cached, was counted. */
export type CountMethod = 'cached' | 'inline' | 'worker' | 'estimated';

/**
 * Counts the tokens of texts. Equal texts and encodings always have equal counts,
 * independent of load, counter and cache. Returns the count or a promise, and never
 * blocks the event loop for more than about 3 ms. Without capacity it rejects with
 * the GatewayError `no_capacity`.
 */
export interface TokenCounter {
  /**
   * Counts one text.
   *
   * @param caller - as for `countAll`, and the counts of the text's blocks are cached for this owner's id.
   *   Does not change the count.
   */
  count(text: string, encoding: string, caller?: JobCaller): number | Promise<number>;
  /**
   * Counts several texts and returns the sum.
   *
   * @param caller - owners share the queue for the threads fairly.
   */
  countAll(texts: readonly string[], encoding: string, caller?: JobCaller): number | Promise<number>;
  /** Estimates a text above MAX_TOKENIZED_LENGTH from its size, with the same result as `count`. */
  countSize(size: TextSize): number;
}

/** The size of a text. */
export interface TextSize {
  /** In UTF-16 code units. */
  readonly length: number;
  /** In UTF-8. */
  readonly bytes: number;
}

export interface TokenizerOptions {
  /** Threads for long texts, shared by all counters. */
  readonly workers?: number;
  /** Path of the bundled `count-worker.ts`; by default it is next to the executable. */
  readonly program?: () => string;
  /** Called for each count. */
  readonly onCount?: (method: CountMethod) => void;
  /** Registry for the metric. */
  readonly metrics?: Registry;
}

/** Use one per process: vocabularies and threads use memory. */
export interface Tokenizer {
  /**
   * Creates a counter with its own queue. The threads alternate between the queues.
   *
   * @param maxQueued the most counts that wait for a thread; further ones are rejected with `no_capacity`.
   */
  openCounter(maxQueued?: number): TokenCounter;
  /** Loads vocabularies in advance: about 5 MB and 50 ms of this thread for each. */
  warmUp(encodings: readonly string[]): Promise<void>;
  /** Rejects running and queued counts. */
  close(): Promise<void>;
}

/** Creates the tokenizer for the encodings o200k_base and cl100k_base. */
export function createTokenizer({
  workers = 1,
  program = () => threadProgram(PROGRAM),
  metrics,
  onCount = metrics ? countMethods(metrics) : () => undefined,
}: TokenizerOptions = {}): Tokenizer {
  const threads = createCountThreads({ workers, program });
  const loaded = new Map<string, Encoding>();
  const cache = new CountCache();

  async function load(name: string): Promise<Encoding> {
    const encoding = await loadEncoding(name);
    loaded.set(name, encoding);
    return encoding;
  }

  return {
    openCounter(maxQueued) {
      const queue = threads.openQueue(maxQueued);

      function countAll(
        texts: readonly string[],
        encoding: string,
        caller?: JobCaller,
      ): number | Promise<number> {
        const method = methodOf(texts);
        if (method === 'estimated') {
          onCount(method);
          return tokensBySize(sizeOf(texts, Buffer.byteLength));
        }
        const counts = countEach(texts, encoding, method, caller);
        return counts instanceof Promise ? counts.then(total) : total(counts);
      }

      function count(text: string, encoding: string, caller?: JobCaller): number | Promise<number> {
        const owner = caller?.owner;
        if (owner === undefined || text.length > MAX_CACHED_TEXT_LENGTH)
          return countAll([text], encoding, caller);
        let known = 0;
        const unknown: string[] = [];
        const keys: (string | undefined)[] = [];
        for (const block of blocksOf(text)) {
          const key = cache.keyOf(block, encoding, owner);
          const tokens = key === undefined ? undefined : cache.get(key);
          if (tokens !== undefined) known += tokens;
          else {
            unknown.push(block);
            keys.push(key);
          }
        }
        if (unknown.length === 0) {
          onCount('cached');
          return known;
        }
        const addToCache = (counts: Counts): number => {
          counts.forEach((tokens, index) => {
            const key = keys[index];
            if (key !== undefined) cache.set(key, tokens);
          });
          return known + total(counts);
        };
        const counts = countEach(unknown, encoding, methodOf(unknown), caller);
        return counts instanceof Promise ? counts.then(addToCache) : addToCache(counts);
      }

      /** Counts each text with a tokenizer. */
      function countEach(
        texts: readonly string[],
        encoding: string,
        method: Exclude<CountMethod, 'cached'>,
        caller?: JobCaller,
      ): Counts | Promise<Counts> {
        onCount(method);
        const countWith = (loadedEncoding: Encoding): Counts | Promise<Counts> =>
          method === 'inline'
            ? texts.map((text) => countText(text, loadedEncoding))
            : queue.run({ vocabulary: loadedEncoding.vocabulary, texts }, caller);
        const known = loaded.get(encoding);
        return known ? countWith(known) : load(encoding).then(countWith);
      }

      function countSize({ length, bytes }: TextSize): number {
        if (length <= MAX_TOKENIZED_LENGTH)
          throw new Error('a text of this size is tokenized, not estimated');
        onCount('estimated');
        return tokensBySize(bytes);
      }

      return { count, countAll, countSize };
    },
    async warmUp(encodings) {
      for (const encoding of encodings) await load(encoding);
    },
    close: () => threads.close(),
  };
}

type Counts = readonly number[];

/** Depends only on the texts, not on load or time. */
function methodOf(texts: readonly string[]): Exclude<CountMethod, 'cached'> {
  const length = sizeOf(texts, (text) => text.length);
  if (length > MAX_TOKENIZED_LENGTH) return 'estimated';
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

function countMethods(metrics: Registry): (method: CountMethod) => void {
  const texts = new Counter({
    name: 'gateway_tokenizer_counts_total',
    help: 'Token counts by method: cached, on the event loop (inline), in a worker thread (worker), or estimated from the size of the text (estimated).',
    labelNames: ['method'],
    registers: [metrics],
  });
  const bound = {
    cached: texts.labels('cached'),
    inline: texts.labels('inline'),
    worker: texts.labels('worker'),
    estimated: texts.labels('estimated'),
  };
  return (method) => bound[method].inc();
}
