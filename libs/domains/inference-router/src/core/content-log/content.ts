import type { UnixMs } from '@gateway/base';
import type { GenerationRequest } from '../generation/finished-generation';

/** A text, cut to a maximum size. */
export interface CutText {
  readonly text: string;
  readonly isCut: boolean;
}

/** The prompt and response of one generation. */
export interface GenerationContent {
  readonly generationId: string;
  readonly organizationId: string;
  readonly createdAt: UnixMs;
  /** The request as JSON, with the fields that the gateway accepted. */
  readonly request: CutText;
  /** The chat.completion object as JSON; undefined without an event of a provider, and for embeddings. */
  readonly response: CutText | undefined;
}

/** @param maxBytes of the request and of the response, each. */
export function contentOf(
  request: GenerationRequest,
  responseJson: string | undefined,
  maxBytes: number,
): GenerationContent {
  const { generationId, organizationId, createdAt } = request;
  return {
    generationId,
    organizationId,
    createdAt,
    request: shorten([Buffer.from(headOf(request)), request.bodyJson.subarray(1)], maxBytes),
    response: responseJson === undefined ? undefined : shorten([Buffer.from(responseJson)], maxBytes),
  };
}

/** The fields that the body does not have, without the closing brace. */
function headOf({ modelId, stream, maxOutputTokens, n, embeddings }: GenerationRequest): string {
  const fields = embeddings ? { model: modelId } : { model: modelId, stream, max_tokens: maxOutputTokens, n };
  return `${JSON.stringify(fields).slice(0, -1)},`;
}

/** Removes base64 data from JSON, and cuts the rest. */
function shorten(parts: readonly Uint8Array[], maxBytes: number): CutText {
  const texts: string[] = [];
  let left = maxBytes;
  for (const json of parts) {
    for (const part of withoutBase64(json)) {
      const isCut = part.length > left;
      // `stream`: an incomplete character at the end is dropped instead of replaced.
      texts.push(new TextDecoder().decode(isCut ? part.subarray(0, left) : part, { stream: isCut }));
      if (isCut) return { text: texts.join(''), isCut };
      left -= part.length;
    }
  }
  return { text: texts.join(''), isCut: false };
}

/** Precedes the data of a `data:` URI. */
const MARK = ';base64,';
/** Shorter runs may be text that mentions the mark. */
const MIN_REMOVED_BYTES = 32;

/** The JSON in parts, with the number of removed characters in place of base64 data. */
function* withoutBase64(json: Uint8Array): Generator<Uint8Array, void, void> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let kept = 0;
  for (let at = bytes.indexOf(MARK); at !== -1; at = bytes.indexOf(MARK, at)) {
    const start = at + MARK.length;
    let end = start;
    while (end < bytes.length && isBase64[bytes[end] ?? 0]) end += 1;
    at = end;
    if (end - start < MIN_REMOVED_BYTES) continue;
    yield bytes.subarray(kept, start);
    yield Buffer.from(`[${end - start} characters removed]`);
    kept = end;
  }
  yield bytes.subarray(kept);
}

/** By the code of the character, also of the URL-safe alphabet. */
const isBase64: readonly boolean[] = Array.from({ length: 256 }, (_, code) =>
  /^[A-Za-z0-9+/=_-]$/.test(String.fromCharCode(code)),
);
