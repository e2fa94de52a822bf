import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Endpoint } from '@gateway/dashboard-contract';
import type { Request, Response } from 'express';
import { acceptedEncodings } from './accepted-encodings';

/** Shorter bodies fit into one packet without compression. */
const MIN_COMPRESSED_BYTES = 1_024;
/** As fast as gzip, and smaller; higher qualities are for files that are compressed once. */
const BROTLI_QUALITY = 4;

/** In order of preference. Both run in the thread pool. */
const ENCODINGS = [
  {
    name: 'br',
    compress: (body: Buffer) =>
      promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  },
  { name: 'gzip', compress: (body: Buffer) => promisify(gzip)(body) },
] as const;

/** Sends JSON, compressed if its endpoint and the client allow it. */
export async function sendJson(
  request: Request,
  response: Response,
  { response: { status }, compressed }: Endpoint,
  json: string,
): Promise<void> {
  response.status(status).type('json');
  if (!compressed) {
    response.send(json);
    return;
  }
  const body = Buffer.from(json);
  const accepted = acceptedEncodings(request.headers['accept-encoding']);
  const encoding = ENCODINGS.find(({ name }) => accepted.includes(name));
  response.vary('accept-encoding');
  if (!encoding || body.length < MIN_COMPRESSED_BYTES) {
    response.send(body);
    return;
  }
  const shorter = await encoding.compress(body);
  response.setHeader('content-encoding', encoding.name);
  response.send(shorter);
}
