import { hashText } from './random';
import type { Prompt } from './messages';

/** Provider-like prompt caching: prompts from 1,024 tokens, counted in steps of 128. */
const MIN_CACHED_TOKENS = 1_024;
const STEP_TOKENS = 128;
/** Message prefixes remembered; the oldest go first. */
const MAX_PREFIXES = 20_000;

/** Remembers the message prefixes this process has seen, per model. */
export class PrefixCache {
  private readonly seen = new Map<string, true>();

  /** Tokens of the longest prefix (whole messages) seen before; the prompt is remembered from now on. */
  lookUp(model: string, prompt: Prompt): number {
    if (prompt.tokens < MIN_CACHED_TOKENS) return 0;
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
    const rounded = Math.floor(cached / STEP_TOKENS) * STEP_TOKENS;
    return rounded < MIN_CACHED_TOKENS ? 0 : rounded;
  }

  clear(): void {
    this.seen.clear();
  }
}
