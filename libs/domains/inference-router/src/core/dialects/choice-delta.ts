import type { ChoiceDelta } from './dialect';

const nothing: ChoiceDelta = {
  index: 0,
  content: null,
  refusal: null,
  reasoning: null,
  toolCalls: [],
  logprobs: null,
  finishReason: undefined,
};

/** A delta of the only completion, for providers that return one. */
export function choiceDelta(fields: Partial<ChoiceDelta>): ChoiceDelta {
  return { ...nothing, ...fields };
}
