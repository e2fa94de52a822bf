import type { EncodeCall } from '../dialect';
import { asObject, parseJson } from '../../completion/json';
import { fitRequest } from '../fit-request';
import { adaptMessages, type MessageAdaptation } from './adapt-messages';
import { isMisfit } from './is-misfit';
import { rulesOf } from './rules';
import { searchBody } from './search-body';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Builds the provider's request: our fields, followed by the bytes of the client's
 * body. The body is parsed only when the vendor refuses a field, an id, a name or the place
 * of an image in it, or needs reasoning that it lacks. Its bytes are changed only when its messages have cache points, or the
 * developer role or reasoning of earlier turns and the target does not accept that.
 * Usage is requested where the provider accepts that.
 *
 * @param turn waits for the next turn of the event loop; large bodies use several.
 */
export async function encodeRequest(
  body: Uint8Array,
  call: EncodeCall,
  turn: () => Promise<void>,
): Promise<Uint8Array> {
  const { options, exactSeed } = call;
  const fields: Record<string, unknown> = { model: call.providerModel, stream: call.stream };
  if (call.stream && options.refusesStreamOptions !== true)
    fields['stream_options'] = { include_usage: true };
  fields[options.maxTokensParameter] = call.maxOutputTokens;
  if (call.n > 1) fields['n'] = call.n;
  const head = JSON.stringify(fields);
  // Inserted as text: a JavaScript number cannot represent 64 bits.
  const withSeed = exactSeed === undefined ? head : `${head.slice(0, -1)},"seed":${exactSeed}}`;
  let found = searchBody(body, options.vendor);
  let fit = body;
  if (isMisfit(found, options)) {
    fit = fitted(body, call);
    found = searchBody(fit, options.vendor);
  }
  const changes = neededChanges(found.words, call);
  return splice(withSeed, changes === undefined ? fit : await adaptMessages(fit, changes, turn));
}

/** @param words that occur in the body. */
function neededChanges(
  words: ReadonlySet<string>,
  { options, signer, ownsUntagged }: EncodeCall,
): MessageAdaptation | undefined {
  const hasReasoning = words.has('reasoning_content');
  const changes = {
    mapsDeveloperRole: options.developerAsSystem && words.has('developer'),
    dropsReasoning: !options.forwardReasoningContent && hasReasoning,
    // OpenRouter's own form, which it also returns.
    sendsReasoningDetails: options.vendor === 'openrouter',
    translatesCachePoints: words.has('cache_control'),
    signer,
    ownsUntagged,
  };
  const isNeeded =
    changes.mapsDeveloperRole ||
    changes.dropsReasoning ||
    (changes.sendsReasoningDetails && hasReasoning) ||
    changes.translatesCachePoints ||
    words.has('reasoning_details') ||
    words.has('extra_content') ||
    words.has('is_error');
  return isNeeded ? changes : undefined;
}

function fitted(bytes: Uint8Array, { options }: EncodeCall): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const body = asObject(parseJson(text));
  if (!body || !Array.isArray(body['messages'])) throw new Error('body_json is not a chat completion');
  return Buffer.from(JSON.stringify(fitRequest(body, rulesOf(options.vendor), options)));
}

function splice(fields: string, body: Uint8Array): Uint8Array {
  const start = body.indexOf(OPEN_BRACE) + 1;
  if (start === 0) throw new Error('body_json is not a JSON object');
  let first = start;
  while (isSpace(body[first])) first += 1;
  const head = Buffer.from(fields.slice(0, -1) + (body[first] === CLOSE_BRACE ? '' : ','));
  const spliced = Buffer.allocUnsafe(head.length + body.length - first);
  spliced.set(head);
  spliced.set(body.subarray(first), head.length);
  return spliced;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
