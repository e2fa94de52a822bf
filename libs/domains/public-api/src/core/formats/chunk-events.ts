import { isJsonObject, type JsonObject } from '../json/json-value';

export function parseObject(json: string | Uint8Array): JsonObject {
  const value: unknown = JSON.parse(typeof json === 'string' ? json : textOf(json));
  if (!isJsonObject(value)) throw new Error('a response of the router that is no object');
  return value;
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

/** An event with a type, as Anthropic and OpenAI write it. */
export function typedEvent(event: { readonly type: string; readonly [name: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
