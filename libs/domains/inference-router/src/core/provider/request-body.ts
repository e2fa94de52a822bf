import type { Target } from '../catalogue/model-catalogue';
import type { GenerationRequest } from '../generation/finished-generation';
import { withKnownMessages } from './known-messages';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const encoder = new TextEncoder();

/**
 * The request as a provider gets it: our fields, followed by the caller's body
 * as bytes. The body is changed only when its messages hold what the target does
 * not take: the developer role, or the thoughts of earlier turns.
 *
 * Usage is always asked for, whatever the caller wants to see.
 *
 * @param turn waits for the next turn of the event loop; large bodies take several.
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
  // As text: no number of ours has as many digits.
  const { exactSeed } = request;
  const withSeed = exactSeed === undefined ? head : `${head.slice(0, -1)},"seed":${exactSeed}}`;
  const changes = {
    mapsDeveloper: target.provider.developerAsSystem,
    dropsThoughts: !target.forwardReasoningContent,
  };
  return splice(withSeed, await withKnownMessages(request.bodyJson, changes, turn));
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
