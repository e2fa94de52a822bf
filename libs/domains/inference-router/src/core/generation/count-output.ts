import { GatewayError } from '@gateway/errors';
import type { TokenCounting } from '../catalogue/model-catalogue';
import type { TokenCounter } from '../ports';

/** Of an answer whose tokens could not be counted: English has about four, no other text has more. */
const CHARACTERS_PER_TOKEN = 4;

export interface CountedOutput {
  readonly tokens: number;
  /** The counter had no room: the tokens are an estimate from below. */
  readonly isEstimated: boolean;
}

/**
 * The tokens that a model wrote, by the model's encoding and factor. Never
 * rejects for want of capacity: a generation that has ended must be recorded,
 * and a customer is not to pay for our load, so it is estimated from below then.
 */
export async function countOutput(
  counter: TokenCounter,
  texts: readonly string[],
  { encoding, factor }: TokenCounting,
): Promise<CountedOutput> {
  if (texts.length === 0) return { tokens: 0, isEstimated: false };
  try {
    return { tokens: Math.ceil((await counter.countAll(texts, encoding)) * factor), isEstimated: false };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'no_capacity') throw error;
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    return { tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN), isEstimated: true };
  }
}
