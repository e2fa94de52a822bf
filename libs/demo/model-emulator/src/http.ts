import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProviderError } from './errors';

/** Larger bodies are rejected with 413, similar to OpenAI. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Reads the body as UTF-8; undefined when it exceeds the limit. */
export function readBody(request: IncomingMessage, done: (body: string | undefined) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.once('end', () => {
    if (bytes > MAX_BODY_BYTES) done(undefined);
    else done(chunks.length === 1 ? (chunks[0]?.toString() ?? '') : Buffer.concat(chunks).toString());
  });
}

/** Throws a 400 with OpenAI's text. */
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
  text = error.body(),
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(error.status, {
    ...headers,
    ...error.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
