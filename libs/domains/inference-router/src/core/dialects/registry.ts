import type { Dialect } from './dialect';
import { openai } from './openai';

export const dialects = { openai } satisfies Readonly<Record<string, Dialect>>;

export type DialectName = keyof typeof dialects;
