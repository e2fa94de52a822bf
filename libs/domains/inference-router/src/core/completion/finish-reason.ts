/** Why a completion ended, as callers see it. A failure is "error", which only the edge writes. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Names that servers use beside the four standard ones. */
const known: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  refusal: 'content_filter',
};

/** Names for "this is no answer": the provider failed, and ended its answer as if it had not. */
const failed = new Set(['error', 'network_error', 'abort', 'insufficient_system_resource']);

/** Whether a completion that ended for this reason is none. */
export function isFailedFinish(reported: unknown): boolean {
  return typeof reported === 'string' && failed.has(reported.toLowerCase());
}

/** @returns undefined while the completion goes on; a name nobody knows counts as an ordinary end. */
export function finishReasonOf(reported: unknown): FinishReason | undefined {
  if (typeof reported !== 'string' || reported === '') return undefined;
  const name = reported.toLowerCase();
  return Object.hasOwn(known, name) ? known[name] : 'stop';
}
