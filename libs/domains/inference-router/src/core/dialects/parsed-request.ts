import { asObject, parseJson, type JsonObject } from '../completion/json';
import type { Dialect, EncodeCall } from './dialect';
import { withOwnSignatures } from './signatures';

/** Fields that only OpenAI's protocol has: hints, and data for the provider's own records. Without them the completion is as valid. */
export const droppedFields = [
  'verbosity',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'user',
  'safety_identifier',
  'metadata',
  'store',
  'service_tier',
  'modalities',
] as const;

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
