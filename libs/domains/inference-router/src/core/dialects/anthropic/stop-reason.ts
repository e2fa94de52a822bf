import type { FinishReason } from '../../completion/finish-reason';

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

/** @returns undefined while the message continues; an unknown reason is "stop". */
export function finishReasonOf(stopReason: unknown): FinishReason | undefined {
  if (typeof stopReason !== 'string') return undefined;
  return Object.hasOwn(finishReasons, stopReason) ? finishReasons[stopReason] : 'stop';
}
