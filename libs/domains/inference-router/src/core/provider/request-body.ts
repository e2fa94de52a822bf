import type { Target } from '../catalogue/model-catalogue';
import type { GenerationRequest } from '../generation/finished-generation';
import { adaptMessages } from './adapt-messages';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const encoder = new TextEncoder();

/**
 * Builds the provider's request: our fields, followed by the bytes of the client's
 * body. The body is changed only when its messages have the developer role or
 * reasoning of earlier turns, and the target does not accept that. Usage is always
 * requested.
 *
 * @param turn waits for the next turn of the event loop; large bodies use several.
 */
export async function providerRequestBody(
  request: GenerationRequest,
  target: Target,
  turn: () => Promise<void>,
): Promise<Uint8Array> {
  const fields: Record<string, unknown> = { model: target.providerModel, stream: request.stream };
  if (request.stream) fields['stream_options'] = { include_usage: true };
  fields[target.maxTokensParameter] = request.maxOutputTokens;
  if (request.n > 1) fields['n'] = request.n;
  const head = JSON.stringify(fields);
  // Inserted as text: a JavaScript number cannot represent 64 bits.
  const { exactSeed } = request;
  const withSeed = exactSeed === undefined ? head : `${head.slice(0, -1)},"seed":${exactSeed}}`;
  const changes = {
    mapsDeveloperRole: target.provider.developerAsSystem,
    dropsReasoning: !target.forwardReasoningContent,
  };
  return splice(withSeed, await adaptMessages(request.bodyJson, changes, turn));
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
