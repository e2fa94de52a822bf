import type { FinishReason } from '../../completion/finish-reason';
import { UpstreamFailure } from '../../failure/upstream-failure';

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

/**
 * @returns "stop" for a reason that is not known.
 * @throws UpstreamFailure when the model failed, or there is no reason.
 */
export function finishReasonOf(stopReason: unknown): FinishReason {
  if (typeof stopReason !== 'string' || stopReason === '' || failures.has(stopReason)) {
    throw new UpstreamFailure('failed', {
      detail: `the provider sent the stopReason ${JSON.stringify(stopReason ?? null).slice(0, 64)}`,
    });
  }
  return Object.hasOwn(reasons, stopReason) ? (reasons[stopReason] ?? 'stop') : 'stop';
}
