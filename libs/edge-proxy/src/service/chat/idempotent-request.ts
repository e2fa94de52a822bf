import { createHash } from 'node:crypto';
import { type Refusal } from '@gateway/errors';
import {
  canonicalBodySha256Input,
  IDEMPOTENCY_KEY_PATTERN,
  type JsonObject,
  unusableIdempotencyKey,
} from '@gateway/public-api';
import { type Exchange } from '../http/exchange';

/** What an Idempotency-Key claims, and for which body. */
export interface IdempotentRequest {
  /** Hex; the same for the same API key, method, path and header value. */
  readonly scope: string;
  /** Of the body's meaning: order and white space do not count. */
  readonly bodySha256: Buffer;
}

const HEADER = 'idempotency-key';

/**
 * Reads the Idempotency-Key header. Its value is opaque: quoted and unquoted
 * are two keys. The scope is one API key, since a replay must not pass the
 * limits of another.
 *
 * @returns undefined without the header; `invalid_request` for one that cannot be used.
 */
export function readIdempotentRequest(
  { request }: Exchange,
  keyId: string,
  path: string,
  body: JsonObject,
): IdempotentRequest | Refusal | undefined {
  if (request.headers[HEADER] === undefined) return undefined;
  const values = request.headersDistinct[HEADER] ?? [];
  const [value = ''] = values;
  if (values.length !== 1 || !IDEMPOTENCY_KEY_PATTERN.test(value)) {
    return unusableIdempotencyKey();
  }
  const scope = createHash('sha256').update(['POST', path, keyId, value].join('\n'));
  const bodySha256 = createHash('sha256').update(canonicalBodySha256Input(body));
  return { scope: scope.digest('hex'), bodySha256: bodySha256.digest() };
}
