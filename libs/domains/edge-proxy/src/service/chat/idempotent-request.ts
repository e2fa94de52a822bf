import { hash } from 'node:crypto';
import type { Refusal } from '@gateway/errors';
import { IDEMPOTENCY_KEY_PATTERN, unusableIdempotencyKey } from '@gateway/public-api';
import type { Exchange } from '../http/exchange';

/** What an Idempotency-Key claims, and for which body. */
export interface IdempotentRequest {
  /** Hex; the same for the same API key, method, path and header value. */
  readonly scope: string;
  /** Of the body's meaning: order and white space do not count. */
  readonly bodySha256: Buffer;
}

const HEADER = 'idempotency-key';

/**
 * What an Idempotency-Key header claims: a hex digest of API key, method, path
 * and value. Its value is opaque: quoted and unquoted
 * are two keys. The scope is one API key, since a replay must not pass the
 * limits of another.
 *
 * @returns undefined without the header; `invalid_request` for one that cannot be used.
 */
export function readIdempotencyScope(
  { request }: Exchange,
  keyId: string,
  path: string,
): string | Refusal | undefined {
  if (request.headers[HEADER] === undefined) return undefined;
  const values = request.headersDistinct[HEADER] ?? [];
  const [value = ''] = values;
  if (values.length !== 1 || !IDEMPOTENCY_KEY_PATTERN.test(value)) {
    return unusableIdempotencyKey();
  }
  return hash('sha256', ['POST', path, keyId, value].join('\n'), 'hex');
}
