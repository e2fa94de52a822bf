import { isJsonObject, type JsonObject } from '../json/json-value';

export function parseObject(json: string | Uint8Array): JsonObject {
  const value: unknown = JSON.parse(typeof json === 'string' ? json : Buffer.from(json).toString('utf8'));
  if (!isJsonObject(value)) throw new Error('a response of the router that is no object');
  return value;
}

/** An event with a type, as Anthropic and OpenAI write it. */
export function typedEvent(event: { readonly type: string; readonly [name: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
