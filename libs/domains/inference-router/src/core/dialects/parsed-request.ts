import { wellFormedJson } from '@gateway/base';
import { asObject, parseJson, type JsonObject } from '../completion/json';
import type { Dialect, EncodeCall } from './dialect';
import { fitRequest } from './fit-request';
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

/**
 * For dialects that translate the parsed body, which fits the vendor's rules and has no signatures of other targets.
 */
export function parsedRequest(
  encode: (body: JsonObject, call: EncodeCall) => object,
  rulesOf: Dialect['rulesOf'],
): Pick<Dialect, 'encodeRequest' | 'parsesBody' | 'rulesOf'> {
  return {
    parsesBody: () => true,
    rulesOf,
    encodeRequest(bytes, call) {
      const body = asObject(
        parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')),
      );
      if (!body || !Array.isArray(body['messages'])) throw new Error('body_json is not a chat completion');
      const messages = (body['messages'] as JsonObject[]).map((message) => withOwnSignatures(message, call));
      const fit = fitRequest({ ...body, messages }, rulesOf(call), call.options);
      // Parsed arguments of calls may have escapes of lone surrogates.
      return encoder.encode(wellFormedJson(JSON.stringify(encode(fit, call))));
    },
  };
}
