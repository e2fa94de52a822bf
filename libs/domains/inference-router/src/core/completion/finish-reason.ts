/** The public finish reasons. A failure is "error", which only the edge sends. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** The standard names and their synonyms at other servers. */
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

/** Reasons that report a failure of the provider, in a response that otherwise looks complete. */
const failed = new Set(['error', 'network_error', 'abort', 'insufficient_system_resource']);

/** Whether the reason reports a failure. */
export function isFailedFinish(reported: unknown): boolean {
  return typeof reported === 'string' && failed.has(reported.toLowerCase());
}

/** @returns undefined while the completion continues; an unknown name is mapped to "stop". */
export function finishReasonOf(reported: unknown): FinishReason | undefined {
  if (typeof reported !== 'string' || reported === '') return undefined;
  const name = reported.toLowerCase();
  return Object.hasOwn(known, name) ? known[name] : 'stop';
}
