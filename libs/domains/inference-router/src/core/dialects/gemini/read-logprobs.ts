import { asObject } from '../../completion/json';
import type { Logprobs } from '../dialect';

const encoder = new TextEncoder();

/** Reads the `logprobsResult` of a candidate as OpenAI's `logprobs`. Null when there is none. */
export function readLogprobs(value: unknown): Logprobs | null {
  const result = asObject(value);
  const chosen = result?.['chosenCandidates'];
  if (!Array.isArray(chosen)) return null;
  const top = Array.isArray(result?.['topCandidates']) ? (result['topCandidates'] as unknown[]) : [];
  const content = (chosen as unknown[]).map((candidate, step) => ({
    ...readToken(candidate),
    top_logprobs: alternativesOf(top[step]).map(readToken),
  }));
  return { content, refusal: null };
}

function alternativesOf(step: unknown): readonly unknown[] {
  const candidates = asObject(step)?.['candidates'];
  return Array.isArray(candidates) ? (candidates as unknown[]) : [];
}

/** A probability of 1 has the logarithm 0, which protobuf's JSON omits. */
function readToken(value: unknown): { token: string; logprob: number; bytes: readonly number[] } {
  const candidate = asObject(value);
  const token = typeof candidate?.['token'] === 'string' ? candidate['token'] : '';
  const logprob = typeof candidate?.['logProbability'] === 'number' ? candidate['logProbability'] : 0;
  return { token, logprob, bytes: [...encoder.encode(token)] };
}
