import { hash } from 'node:crypto';
import type { Refusal } from '@gateway/errors';
import {
  IDEMPOTENCY_KEY_PATTERN,
  invalidIdempotencyKey,
  invalidLastEventId,
  LAST_EVENT_ID_PATTERN,
} from '@gateway/public-api';
import type { Exchange } from '../http/exchange';

const HEADER = 'idempotency-key';
const LAST_EVENT_ID = 'last-event-id';

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

/**
 * The Last-Event-ID header, with which a client requests event ids and continues
 * the stream of an Idempotency-Key.
 *
 * @param isResumable whether the request streams and has an Idempotency-Key.
 * @returns undefined without the header; `invalid_request` for an invalid one.
 */
export function readLastEventId({ request }: Exchange, isResumable: boolean): number | Refusal | undefined {
  if (request.headers[LAST_EVENT_ID] === undefined) return undefined;
  const values = request.headersDistinct[LAST_EVENT_ID] ?? [];
  const [value = ''] = values;
  if (!isResumable || values.length !== 1 || !LAST_EVENT_ID_PATTERN.test(value)) return invalidLastEventId();
  return Number(value);
}
