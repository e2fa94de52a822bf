import { hashText } from './random';
import type { Prompt } from './messages';

/** Prompt caching as at providers: for prompts from 1,024 tokens, in steps of 128. */
const MIN_CACHED_TOKENS = 1_024;
const STEP_TOKENS = 128;
/** Cached message prefixes; the oldest are evicted. */
const MAX_PREFIXES = 20_000;

/** Tokens of a prompt. */
export interface CacheUse {
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
}

function cacheable(tokens: number): number {
  return tokens < MIN_CACHED_TOKENS ? 0 : Math.floor(tokens / STEP_TOKENS) * STEP_TOKENS;
}

/** Caches the message prefixes of this process, per model. */
export class PrefixCache {
  private readonly seen = new Map<string, true>();

  /** Caches the prompt. Its longest prefix of whole messages that was cached before is read, the rest is written. */
  lookUp(model: string, prompt: Prompt): CacheUse {
    if (prompt.tokens < MIN_CACHED_TOKENS) return { cachedTokens: 0, cacheWriteTokens: 0 };
    let hash = hashText(model);
    let check = hashText(model, 0x9747b28c);
    let tokens = 0;
    let cached = 0;
    for (const part of prompt.parts) {
      hash = hashText(part.text, hash);
      check = hashText(part.text, check);
      tokens += part.tokens;
      const key = `${hash}:${check}:${tokens}`;
      if (this.seen.delete(key)) cached = tokens;
      this.seen.set(key, true);
    }
    for (const oldest of this.seen.keys()) {
      if (this.seen.size <= MAX_PREFIXES) break;
      this.seen.delete(oldest);
    }
    const cachedTokens = cacheable(cached);
    return { cachedTokens, cacheWriteTokens: cacheable(tokens) - cachedTokens };
  }

  clear(): void {
    this.seen.clear();
  }
}
