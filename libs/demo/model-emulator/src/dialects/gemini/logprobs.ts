import { createRandom, hashText } from '../../random';
import type { TextSegment } from '../../tokens';

/** @param top the number of alternatives; undefined: no log probabilities. */
export function renderLogprobs(
  segments: readonly TextSegment[],
  top: number | undefined,
): { readonly logprobsResult?: object } {
  if (top === undefined) return {};
  const chosenCandidates = segments.map(({ text }) => candidateOf(text, 0));
  if (top === 0) return { logprobsResult: { chosenCandidates } };
  const topCandidates = segments.map(({ text }) => ({
    candidates: Array.from({ length: top }, (_, index) => candidateOf(text, index)),
  }));
  return { logprobsResult: { chosenCandidates, topCandidates } };
}

function candidateOf(text: string, index: number) {
  const token = index === 0 ? text : `${text}${index}`;
  const logProbability = -index - Math.round(createRandom(hashText(token))() * 1e6) / 1e6;
  return { token, tokenId: hashText(token) % 256_000, logProbability };
}
