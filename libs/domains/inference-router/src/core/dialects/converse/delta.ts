import type { ChoiceDelta } from '../dialect';
import { UpstreamFailure } from '../../failure/upstream-failure';

const nothing: ChoiceDelta = {
  index: 0,
  content: null,
  refusal: null,
  reasoning: null,
  toolCalls: [],
  logprobs: null,
  finishReason: undefined,
};

/** Converse has a single completion. */
export function delta(fields: Partial<ChoiceDelta>): ChoiceDelta {
  return { ...nothing, ...fields };
}

export function malformed(what: string): UpstreamFailure {
  return new UpstreamFailure('failed', { detail: `the provider sent ${what}` });
}
