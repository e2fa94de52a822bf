import { hash, randomBytes } from 'node:crypto';

/** Shorter blocks are counted as fast as they are looked up. */
export const MIN_REMEMBERED_LENGTH = 64;
/** Remembered at most, in each of two generations: with their digests some 4 MiB in all. */
const MAX_REMEMBERED_BLOCKS = 16_384;

const SECRET_BYTES = 32;

export interface CountMemoryOptions {
  readonly minLength?: number;
  readonly maxBlocks?: number;
}

/**
 * What blocks of text counted when they were counted last, by a digest with a secret key: nobody
 * can look for two blocks with one digest. Whose text it is is part of what is digested: that a
 * text is counted fast tells its own sender that it was sent before, and nobody else.
 *
 * What was not asked for during a whole generation is forgotten.
 */
export class CountMemory {
  private readonly secret = randomBytes(SECRET_BYTES).toString('base64');
  private readonly minLength: number;
  private readonly maxBlocks: number;
  private young = new Map<string, number>();
  private old = new Map<string, number>();

  constructor({
    minLength = MIN_REMEMBERED_LENGTH,
    maxBlocks = MAX_REMEMBERED_BLOCKS,
  }: CountMemoryOptions = {}) {
    this.minLength = minLength;
    this.maxBlocks = maxBlocks;
  }

  /**
   * Under what a block is remembered; undefined for one that is not.
   *
   * @param owner - an id: it has no line's end in it, and neither has the encoding.
   */
  keyOf(block: string, encoding: string, owner: string): string | undefined {
    // As bytes, all halves of surrogate pairs are the same; what they count is not.
    if (block.length < this.minLength || !isWellFormed(block)) return undefined;
    return hash('sha256', `${this.secret}\n${encoding}\n${owner}\n${block}`, 'base64');
  }

  recall(key: string): number | undefined {
    const tokens = this.young.get(key);
    if (tokens !== undefined) return tokens;
    const older = this.old.get(key);
    if (older !== undefined) this.remember(key, older);
    return older;
  }

  remember(key: string, tokens: number): void {
    if (this.young.size >= this.maxBlocks) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, tokens);
  }
}

/** In all versions of Node that are supported, and not yet in the compiler's library. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
