import type { ChatMessage } from './schema/checked-fields';

/**
 * The target that signed the last turn of a tool loop, as named by `signed_by` in its response. Undefined when the last
 * message is no result of a tool, or when its call is not signed.
 */
export function toolLoopSigner(messages: readonly ChatMessage[]): string | undefined {
  if (messages.at(-1)?.role !== 'tool') return undefined;
  const turn = messages.findLast(({ role }) => role !== 'tool');
  const { reasoning_details: details = [], tool_calls: calls = [] } = turn ?? {};
  for (const signed of [...details, ...calls.map((call) => call.extra_content)]) {
    const signer = signed?.['signed_by'];
    if (typeof signer === 'string') return signer;
  }
  return undefined;
}
