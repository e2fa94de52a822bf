import { GatewayError } from '@gateway/errors';
import type { TokenCounting } from '../catalogue/model-catalogue';
import type { TokenCounter } from '../ports';

/** For the estimate. English has about four characters per token, other text fewer. */
const CHARACTERS_PER_TOKEN = 4;

export interface CountedOutput {
  readonly tokens: number;
  /** The counter had no capacity: the number is a lower bound. */
  readonly isEstimated: boolean;
}

/**
 * Counts a model's output with its encoding and factor. Without counting capacity
 * the output is estimated as a lower bound: the generation must be recorded, and
 * the customer must not pay for our load. Short texts are counted at once.
 */
export function countOutput(
  counter: TokenCounter,
  texts: readonly string[],
  { encoding, factor }: TokenCounting,
  organizationId: string,
): CountedOutput | Promise<CountedOutput> {
  if (texts.length === 0) return { tokens: 0, isEstimated: false };
  const counted = (tokens: number) => ({ tokens: Math.ceil(tokens * factor), isEstimated: false });
  const counting = counter.countAll(texts, encoding, { owner: organizationId });
  return typeof counting === 'number' ? counted(counting) : counting.then(counted, estimate);

  function estimate(error: unknown): CountedOutput {
    if (!(error instanceof GatewayError) || error.code !== 'no_capacity') throw error;
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    return { tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN), isEstimated: true };
  }
}
