import type { FinishReason } from '../../completion/finish-reason';
import { malformed } from '../failures';

/** Every `stopReason` of the Converse API that is not a failure. */
const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
};

const failures = new Set(['malformed_model_output', 'malformed_tool_use']);

/** Empty for a stop sequence: Converse does not say which. */
export function stopSequenceOf(stopReason: unknown): { readonly stopSequence?: string } {
  return stopReason === 'stop_sequence' ? { stopSequence: '' } : {};
}

/**
 * @returns "stop" for a reason that is not known.
 * @throws UpstreamFailure when the model failed, or there is no reason.
 */
export function finishReasonOf(stopReason: unknown): FinishReason {
  if (typeof stopReason !== 'string' || stopReason === '' || failures.has(stopReason)) {
    const known = typeof stopReason === 'string' && failures.has(stopReason);
    throw malformed(known ? `the stopReason ${stopReason}` : 'no stopReason');
  }
  return Object.hasOwn(reasons, stopReason) ? (reasons[stopReason] ?? 'stop') : 'stop';
}
