import { anthropic } from './anthropic';
import { converse } from './converse';
import type { Dialect, TargetOptions } from './dialect';
import { gemini } from './gemini';
import { openai } from './openai';

export const dialectNames = ['openai', 'anthropic', 'gemini', 'converse'] as const;
export type DialectName = (typeof dialectNames)[number];

/** The clouds that serve each dialect in another form than its vendor. */
export const hostsOf: Readonly<Record<DialectName, readonly TargetOptions['host'][]>> = {
  openai: ['azure_deployments'],
  anthropic: ['vertex', 'bedrock'],
  gemini: ['vertex'],
  converse: [],
};

export const dialects: Readonly<Record<DialectName, Dialect>> = { openai, anthropic, gemini, converse };

/**
 * Whether providers of this dialect charge a price of their own for writes to the prompt cache, so that a model with
 * `prompt_cache` needs one. Gemini's cache is written free of charge; servers that speak OpenAI's protocol differ.
 */
export function chargesCacheWrites(dialect: DialectName): boolean {
  return dialect === 'anthropic' || dialect === 'converse';
}

/** Whether requests without cache points can write to the prompt cache at the price of writes. */
export function writesCacheImplicitly(dialect: DialectName): boolean {
  return dialect === 'openai';
}
