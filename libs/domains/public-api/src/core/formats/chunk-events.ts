import { isJsonObject, type JsonObject } from '../json/json-value';

const DATA = 'data: ';
const END = '\n\n';

/** The data of the events of a chat completion. Comments and the final [DONE] are not chunks. */
export function dataOfEvents(sse: string): readonly string[] {
  const data: string[] = [];
  for (
    let start = 0, end = sse.indexOf(END);
    end !== -1;
    start = end + END.length, end = sse.indexOf(END, start)
  )
    if (sse.startsWith(DATA, start)) data.push(sse.slice(start + DATA.length, end));
  return data;
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
