import { hash, randomBytes } from 'node:crypto';

/** Shorter blocks are not cached, since counting them is as fast as a lookup. */
export const MIN_CACHED_LENGTH = 64;
/** Maximum entries in each of two generations: about 4 MiB in total. */
const MAX_CACHED_BLOCKS = 16_384;

const SECRET_BYTES = 32;

export interface CountCacheOptions {
  readonly minLength?: number;
  readonly maxBlocks?: number;
}

/**
 * Caches the counts of blocks. The key is a digest with a secret, which prevents searching for
 * collisions. The digest includes the owner, so timing reveals only one's own earlier texts.
 *
 * Entries that were not used during a whole generation are evicted.
 */
export class CountCache {
  private readonly secret = randomBytes(SECRET_BYTES).toString('base64');
  private readonly minLength: number;
  private readonly maxBlocks: number;
  private young = new Map<string, number>();
  private old = new Map<string, number>();

  constructor({ minLength = MIN_CACHED_LENGTH, maxBlocks = MAX_CACHED_BLOCKS }: CountCacheOptions = {}) {
    this.minLength = minLength;
    this.maxBlocks = maxBlocks;
  }

  /**
   * The key of a block; undefined when it is not cached.
   *
   * @param owner - an id without line breaks.
   */
  keyOf(block: string, encoding: string, owner: string): string | undefined {
    // All unpaired surrogates have the same bytes, but not the same count.
    if (block.length < this.minLength || !isWellFormed(block)) return undefined;
    return hash('sha256', `${this.secret}\n${encoding}\n${owner}\n${block}`, 'base64');
  }

  get(key: string): number | undefined {
    const tokens = this.young.get(key);
    if (tokens !== undefined) return tokens;
    const older = this.old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, tokens: number): void {
    if (this.young.size >= this.maxBlocks) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, tokens);
  }
}

/** Available in all supported Node versions, but not in TypeScript's library. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
