import type { Target } from '../catalogue/model-catalogue';
import type { GenerationRequest } from '../generation/finished-generation';
import { asObject, parseJson } from '../completion/json';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const encoder = new TextEncoder();

/**
 * The request as a provider gets it: our fields, followed by the caller's body
 * as bytes. The body is parsed only when its messages may hold what the target
 * does not take: the developer role, or the thoughts of earlier turns.
 *
 * Usage is always asked for, whatever the caller wants to see.
 */
export function providerRequestBody(request: GenerationRequest, target: Target): Uint8Array {
  const fields: Record<string, unknown> = { model: target.providerModel, stream: request.stream };
  if (request.stream) fields['stream_options'] = { include_usage: true };
  fields[target.maxTokensParameter] = request.maxOutputTokens;
  if (request.n > 1) fields['n'] = request.n;
  const head = JSON.stringify(fields);
  // As text: no number of ours has as many digits.
  const { exactSeed } = request;
  const withSeed = exactSeed === undefined ? head : `${head.slice(0, -1)},"seed":${exactSeed}}`;
  return splice(withSeed, withKnownMessages(request.bodyJson, target));
}

function splice(fields: string, body: Uint8Array): Uint8Array {
  const start = body.indexOf(OPEN_BRACE) + 1;
  if (start === 0) throw new Error('body_json is not a JSON object');
  let first = start;
  while (isSpace(body[first])) first += 1;
  const head = encoder.encode(fields.slice(0, -1) + (body[first] === CLOSE_BRACE ? '' : ','));
  const spliced = new Uint8Array(head.length + body.length - first);
  spliced.set(head);
  spliced.set(body.subarray(first), head.length);
  return spliced;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function withKnownMessages(body: Uint8Array, target: Target): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const mapsRole = target.provider.developerAsSystem && bytes.includes('"developer"');
  const dropsThoughts = !target.forwardReasoningContent && bytes.includes('"reasoning_content"');
  if (!mapsRole && !dropsThoughts) return body;
  const parsed = asObject(parseJson(bytes.toString('utf8')));
  const messages = parsed?.['messages'];
  if (!parsed || !Array.isArray(messages)) return body;
  const mapped = messages.map((value: unknown) => {
    const message = asObject(value);
    if (!message) return value;
    const { reasoning_content: thoughts, ...rest } = message;
    return {
      ...rest,
      ...(mapsRole && message['role'] === 'developer' ? { role: 'system' } : {}),
      ...(thoughts === undefined || dropsThoughts ? {} : { reasoning_content: thoughts }),
    };
  });
  return encoder.encode(JSON.stringify({ ...parsed, messages: mapped }));
}
