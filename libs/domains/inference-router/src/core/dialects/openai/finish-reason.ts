import type { FinishReason } from '../../completion/finish-reason';
import type { ProviderError } from '../dialect';

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

/** The error that a finish reason reports; undefined for all others. */
export function errorOfFinish(reported: unknown): ProviderError | undefined {
  if (typeof reported !== 'string' || !failed.has(reported.toLowerCase())) return undefined;
  return { message: `the finish_reason is "${reported}"`, code: '', type: '', param: undefined };
}

/** @returns undefined while the completion continues; an unknown name is mapped to "stop". */
export function finishReasonOf(reported: unknown): FinishReason | undefined {
  if (typeof reported !== 'string' || reported === '') return undefined;
  const name = reported.toLowerCase();
  return Object.hasOwn(known, name) ? known[name] : 'stop';
}
