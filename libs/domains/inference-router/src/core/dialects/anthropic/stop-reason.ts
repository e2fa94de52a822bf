import type { FinishReason } from '../../completion/finish-reason';
import type { JsonObject } from '../../completion/json';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  // The turn is not complete: a truncated response must not look complete.
  pause_turn: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** The sequence that ended a message. */
export function stopSequenceOf({
  stop_reason: reason,
  stop_sequence: sequence,
}: JsonObject): string | undefined {
  if (reason !== 'stop_sequence') return undefined;
  return typeof sequence === 'string' ? sequence : '';
}

/** @returns undefined while the message continues; an unknown reason is "stop". */
export function finishReasonOf(stopReason: unknown): FinishReason | undefined {
  if (typeof stopReason !== 'string') return undefined;
  return Object.hasOwn(finishReasons, stopReason) ? finishReasons[stopReason] : 'stop';
}
