import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProviderError } from './errors';

/** OpenAI takes bodies of this order; larger ones are refused with 413. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Reads the body as UTF-8; undefined when it is over the limit (the rest is thrown away). */
export function readBody(request: IncomingMessage, done: (body: string | undefined) => void): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= MAX_BODY_BYTES) pieces.push(piece);
    else pieces.length = 0;
  });
  request.once('end', () => {
    if (bytes > MAX_BODY_BYTES) done(undefined);
    else done(pieces.length === 1 ? (pieces[0]?.toString() ?? '') : Buffer.concat(pieces).toString());
  });
}

/** Throws a 400 in OpenAI's words. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new ProviderError({
      status: 400,
      message: 'We could not parse the JSON body of your request.',
    });
  }
}

export function sendJson(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

export function sendError(
  response: ServerResponse,
  error: ProviderError,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = error.body();
  response.writeHead(error.status, {
    ...headers,
    ...error.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
