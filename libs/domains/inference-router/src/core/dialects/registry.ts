import type { Dialect } from './dialect';
import { openai } from './openai';

export const dialects = { openai } satisfies Readonly<Record<string, Dialect>>;

export type DialectName = keyof typeof dialects;

const CHARGES_CACHE_WRITES: ReadonlySet<string> = new Set(['anthropic', 'converse']);

/**
 * Whether providers of this dialect charge a price of their own for writes to the
 * prompt cache, so that a model with `prompt_cache` needs one. Gemini's cache is
 * written free of charge; servers that speak OpenAI's protocol differ.
 */
export function chargesCacheWrites(dialect: string): boolean {
  return CHARGES_CACHE_WRITES.has(dialect);
}

/** Whether requests without cache points can write to the prompt cache at the price of writes. */
export function writesCacheImplicitly(dialect: string): boolean {
  return dialect === 'openai';
}
