import { asObject, type JsonObject } from '../completion/json';

/** The tool calls of an assistant's message; empty for other messages. */
export function toolCallsOf(message: JsonObject): readonly JsonObject[] {
  const calls = message['tool_calls'];
  return Array.isArray(calls) ? calls.map((call: unknown) => asObject(call) ?? {}) : [];
}

export function calledNameOf(call: JsonObject): string | undefined {
  return nameIn(call['function']);
}

/** The name of a function, as calls, tools and choices of a tool have it. */
export function nameIn(value: unknown): string | undefined {
  const name = asObject(value)?.['name'];
  return typeof name === 'string' ? name : undefined;
}
