import assert from 'node:assert/strict';
import { errorTable, type ErrorCode } from '@gateway/errors';
import type { ErrorBody, RawResponse } from './raw-response';

export interface ExpectedError {
  readonly param?: string | null;
  /** Every one must occur in the message. */
  readonly messageHas?: readonly (string | RegExp)[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Checks an error response completely: status, type, code, envelope, headers and message.
 * `param: null` expects that there is none.
 */
export function assertError(
  response: RawResponse,
  code: ErrorCode,
  expected: ExpectedError = {},
): ErrorBody['error'] {
  const row = errorTable[code];
  const { error, ...rest } = response.json();
  assert.deepEqual(
    { status: response.status, type: error?.type, code: error?.code },
    { status: row.httpStatus, type: row.type, code },
    response.text.slice(0, 500),
  );
  assert.deepEqual(rest, {}, 'the envelope contains only "error"');
  assertEnvelope(error);
  assert.match(String(response.headers['content-type']), /^application\/json/);
  assert.match(String(response.headers['x-request-id']), /^req_/);
  if (row.httpStatus === 401) assert.equal(response.headers['www-authenticate'], 'Bearer');
  if (row.httpStatus !== 429) assert.doesNotMatch(error.message, /rate[\s_-]*limit/i);
  const retryAfter = response.headers['retry-after'];
  if (retryAfter !== undefined) assert.match(retryAfter, /^[1-9]\d*$/, 'retry-after is a positive integer');

  if (expected.param === null) assert.equal(error.param, undefined);
  else if (expected.param !== undefined) assert.equal(error.param, expected.param);
  for (const part of expected.messageHas ?? []) {
    if (typeof part === 'string') assert.ok(error.message.includes(part), `${error.message} lacks ${part}`);
    else assert.match(error.message, part);
  }
  for (const [name, value] of Object.entries(expected.metadata ?? {})) {
    assert.deepEqual(error.metadata[name], value, `metadata.${name}`);
  }
  return error;
}

/** The format of every error, also inside a stream. */
export function assertEnvelope(error: ErrorBody['error']): void {
  assert.equal(typeof error.message, 'string');
  assert.ok(error.message.length > 0);
  assert.ok(error.metadata !== null && typeof error.metadata === 'object' && !Array.isArray(error.metadata));
  assert.ok(!('param' in error) || typeof error.param === 'string', 'param is a string or absent');
  const known = new Set(['message', 'type', 'param', 'code', 'metadata']);
  assert.deepEqual(
    Object.keys(error).filter((name) => !known.has(name)),
    [],
  );
}
