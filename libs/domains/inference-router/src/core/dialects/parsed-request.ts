import { asObject, parseJson, type JsonObject } from '../completion/json';
import type { Dialect, EncodeCall } from './dialect';
import { withOwnSignatures } from './signatures';

const encoder = new TextEncoder();

/** For dialects that translate the parsed body, which has neither the target's `drops` nor signatures of other targets. */
export function parsedRequest(
  encode: (body: JsonObject, call: EncodeCall) => object,
): Pick<Dialect, 'encodeRequest' | 'parsesBody'> {
  return {
    parsesBody: true,
    encodeRequest(bytes, call) {
      const body = asObject(
        parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')),
      );
      if (!body || !Array.isArray(body['messages'])) throw new Error('body_json is not a chat completion');
      const messages = (body['messages'] as JsonObject[]).map((message) => withOwnSignatures(message, call));
      return encoder.encode(JSON.stringify(encode({ ...withoutDrops(body, call), messages }, call)));
    },
  };
}

function withoutDrops(body: JsonObject, { options: { drops } }: EncodeCall): JsonObject {
  if (!drops.some((name) => Object.hasOwn(body, name))) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !drops.includes(name)));
}
