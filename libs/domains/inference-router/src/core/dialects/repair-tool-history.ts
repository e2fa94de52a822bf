import type { JsonObject } from '../completion/json';
import { toolCallsOf } from './tool-calls';

const NO_RESULT = 'The result of this call was not recorded.';
const LOST_CALL = 'The result of a tool call that is no longer in the conversation:';

/**
 * Puts the results of tool calls after their calls, in the order of the calls. A call without a result gets one that says
 * so; a result without a call becomes text of the user.
 */
export function repairToolHistory(messages: readonly JsonObject[]): readonly JsonObject[] {
  const results = new Set(messages.filter(isResult));
  const repaired: JsonObject[] = [];
  const claimed = new Map<JsonObject, readonly JsonObject[]>();
  for (const [index, message] of messages.entries()) {
    const own = toolCallsOf(message).map(({ id }) => {
      const result = findResult(messages, index, results, id);
      if (result) results.delete(result);
      return result ?? { role: 'tool', tool_call_id: id, content: NO_RESULT };
    });
    claimed.set(message, own);
  }
  for (const message of messages) {
    if (!isResult(message)) repaired.push(message, ...(claimed.get(message) ?? []));
    else if (results.has(message)) repaired.push(lostResult(message));
  }
  return repaired;
}

function isResult({ role }: JsonObject): boolean {
  return role === 'tool';
}

/** The next result with the id, before a later call of the same id; else an earlier one. */
function findResult(
  messages: readonly JsonObject[],
  index: number,
  unclaimed: ReadonlySet<JsonObject>,
  id: unknown,
): JsonObject | undefined {
  const isFree = (message: JsonObject) => unclaimed.has(message) && message['tool_call_id'] === id;
  const later = messages.slice(index + 1);
  const nextCall = later.findIndex((message) => toolCallsOf(message).some((call) => call['id'] === id));
  const before = nextCall === -1 ? later : later.slice(0, nextCall);
  return before.find(isFree) ?? messages.slice(0, index).find(isFree);
}

function lostResult({ content }: JsonObject): JsonObject {
  const parts = Array.isArray(content) ? (content as unknown[]) : [{ type: 'text', text: content ?? '' }];
  return { role: 'user', content: [{ type: 'text', text: LOST_CALL }, ...parts] };
}
