import type { ForwardedFields } from './schema/checked-fields';
import type { ModelView } from './types';

/**
 * Whether the output of a request can be counted while it is generated, so that its
 * hold may be elastic. Only then are all output tokens that are billed in the events
 * of one stream. Others hold their whole output limit:
 *
 * - A non-streaming response arrives as a whole.
 * - Several completions (`n`) are generated side by side, and none can wait.
 * - Models with reasoning may bill reasoning tokens that they do not send.
 * - Rejected tokens of a `prediction` are billed and not sent.
 */
export function isOutputVisible(
  { stream, n }: { readonly stream: boolean; readonly n: number },
  { prediction }: ForwardedFields,
  { capabilities }: ModelView,
): boolean {
  return stream && n === 1 && prediction === undefined && !capabilities.includes('reasoning');
}
