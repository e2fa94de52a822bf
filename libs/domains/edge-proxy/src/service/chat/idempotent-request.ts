import { hash } from 'node:crypto';
import type { Refusal } from '@gateway/errors';
import { IDEMPOTENCY_KEY_PATTERN, invalidIdempotencyKey } from '@gateway/public-api';
import type { Exchange } from '../http/exchange';

/** The scope of an Idempotency-Key and the body that it was sent with. */
export interface IdempotentRequest {
  /** Hex digest of API key, method, path and header value. */
  readonly scope: string;
  /** Of the canonical JSON: the order of names and white space do not matter. */
  readonly bodySha256: Buffer;
}

const HEADER = 'idempotency-key';

/**
 * The scope of an Idempotency-Key header. Its value is opaque: quoted and
 * unquoted are two keys. The scope includes the API key, since a replay must not
 * bypass the restrictions of another key.
 *
 * @returns undefined without the header; `invalid_request` for an invalid one.
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
    return invalidIdempotencyKey();
  }
  return hash('sha256', ['POST', path, keyId, value].join('\n'), 'hex');
}
