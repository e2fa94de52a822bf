import { isJsonObject, type JsonObject } from '../json/json-value';

const DATA = 'data: ';

/** The data of the events of a chat completion. Comments and the final [DONE] are not chunks. */
export function dataOfEvents(sse: string): readonly string[] {
  return sse
    .split('\n\n')
    .filter((event) => event.startsWith(DATA))
    .map((event) => event.slice(DATA.length));
}

export function parseObject(json: string | Uint8Array): JsonObject {
  const value: unknown = JSON.parse(typeof json === 'string' ? json : Buffer.from(json).toString('utf8'));
  if (!isJsonObject(value)) throw new Error('a response of the router that is no object');
  return value;
}

/** An event with a type, as Anthropic and OpenAI write it. */
export function typedEvent(event: { readonly type: string; readonly [name: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
