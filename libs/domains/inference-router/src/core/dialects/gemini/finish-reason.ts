import type { FinishReason } from '../../completion/finish-reason';

/** Every finish reason of Google's documents that ends a completion without a failure. */
const finished: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
};

/**
 * All other reasons are failures: OTHER, MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS,
 * MISSING_THOUGHT_SIGNATURE, MALFORMED_RESPONSE, NO_IMAGE, IMAGE_OTHER, and unknown ones. A completion that they ended
 * is not complete.
 *
 * @param hasToolCalls Gemini finishes with STOP, whether or not it called functions.
 * @returns undefined while the completion continues.
 */
export function finishReasonOf(
  reported: unknown,
  hasToolCalls: boolean,
): FinishReason | { readonly failedWith: string } | undefined {
  if (typeof reported !== 'string' || reported === '' || reported === 'FINISH_REASON_UNSPECIFIED') {
    return undefined;
  }
  const reason = Object.hasOwn(finished, reported) ? finished[reported] : undefined;
  if (reason === undefined) return { failedWith: reported };
  return reason === 'stop' && hasToolCalls ? 'tool_calls' : reason;
}
