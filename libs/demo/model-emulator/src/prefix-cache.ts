import { hashText } from './random';
import type { Prompt } from './messages';

/** Prompt caching as at providers: for prompts from 1,024 tokens, in steps of 128. */
const MIN_CACHED_TOKENS = 1_024;
const STEP_TOKENS = 128;
/** Cached message prefixes; the oldest are evicted. */
const MAX_PREFIXES = 20_000;

/** The tokens of a prompt that the cache has, and those that it gets. */
export interface CacheUse {
  readonly cachedTokens: number;
  /** Written for five minutes and for one hour: at cache points, or the rest of a prompt that is cached without them. */
  readonly cacheWrite5mTokens: number;
  readonly cacheWrite1hTokens: number;
}

export const NO_CACHE_USE: CacheUse = { cachedTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };

/** Caches the message prefixes of this process, per model. Entries do not expire. */
export class PrefixCache {
  private readonly seen = new Map<string, true>();

  /** Caches the prompt, and returns what was cached before: the longest prefix of whole messages, or at a cache point. */
  lookUp(model: string, prompt: Prompt): CacheUse {
    if (prompt.tokens < MIN_CACHED_TOKENS) return NO_CACHE_USE;
    const prefixes = prefixesOf(model, prompt);
    return prompt.cachePoints === undefined
      ? this.useAll(prefixes)
      : this.usePoints(prefixes, prompt.cachePoints);
  }

  clear(): void {
    this.seen.clear();
  }

  private useAll(prefixes: readonly Prefix[]): CacheUse {
    let cached = 0;
    for (const { key, tokens } of prefixes) if (this.add(key)) cached = tokens;
    const cachedTokens = inSteps(cached);
    return {
      ...NO_CACHE_USE,
      cachedTokens,
      cacheWrite5mTokens: inSteps(prefixes.at(-1)?.tokens ?? 0) - cachedTokens,
    };
  }

  private usePoints(prefixes: readonly Prefix[], points: NonNullable<Prompt['cachePoints']>): CacheUse {
    const written = { '5m': 0, '1h': 0 };
    let cached = 0;
    let end = 0;
    for (const { parts, lifetime } of points) {
      const prefix = prefixes[parts - 1];
      if (prefix === undefined || prefix.tokens < MIN_CACHED_TOKENS) continue;
      if (this.add(prefix.key)) {
        cached = prefix.tokens;
        // What precedes a cached prefix is read, not written.
        written['5m'] = written['1h'] = 0;
      } else {
        written[lifetime] += prefix.tokens - end;
      }
      end = prefix.tokens;
    }
    return { cachedTokens: cached, cacheWrite5mTokens: written['5m'], cacheWrite1hTokens: written['1h'] };
  }

  /** @returns whether the prefix was cached before. */
  private add(key: string): boolean {
    const known = this.seen.delete(key);
    this.seen.set(key, true);
    for (const oldest of this.seen.keys()) {
      if (this.seen.size <= MAX_PREFIXES) break;
      this.seen.delete(oldest);
    }
    return known;
  }
}

function inSteps(tokens: number): number {
  return tokens < MIN_CACHED_TOKENS ? 0 : Math.floor(tokens / STEP_TOKENS) * STEP_TOKENS;
}

interface Prefix {
  readonly key: string;
  readonly tokens: number;
}

/** The prefix that ends with each part. */
function prefixesOf(model: string, prompt: Prompt): readonly Prefix[] {
  let hash = hashText(model);
  let check = hashText(model, 0x9747b28c);
  let tokens = 0;
  return prompt.parts.map((part) => {
    hash = hashText(part.text, hash);
    check = hashText(part.text, check);
    tokens += part.tokens;
    return { key: `${hash}:${check}:${tokens}`, tokens };
  });
}
