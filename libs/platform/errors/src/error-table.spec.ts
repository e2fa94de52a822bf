import { errorCodes, errorTable, GrpcStatus, isErrorCode } from './error-table';

/** The public contract, row by row. Duplicated, so that a change of the table needs a change of this file. */
const contract = `
context_length_exceeded        400 invalid_request_error
image_url_not_supported        400 invalid_request_error
invalid_json                   400 invalid_request_error
invalid_request                400 invalid_request_error
json_mode_no_stream            400 invalid_request_error
json_mode_not_supported        400 invalid_request_error
max_tokens_exceeds_cap         400 invalid_request_error
missing_messages               400 invalid_request_error
missing_model                  400 invalid_request_error
n_not_allowed                  400 invalid_request_error
reasoning_effort_not_supported 400 invalid_request_error
tools_not_supported            400 invalid_request_error
unknown_parameter              400 invalid_request_error
vision_not_available           400 invalid_request_error
invalid_api_key                401 authentication_error
ip_not_allowed                 401 authentication_error
key_expired                    401 authentication_error
key_revoked                    401 authentication_error
insufficient_credits           402 insufficient_credits
missing_scope                  403 permission_error
model_not_allowed              403 permission_error
org_suspended                  403 permission_error
generation_not_found           404 not_found_error
model_not_found                404 not_found_error
route_not_found                404 not_found_error
request_timeout                408 timeout_error
idempotency_key_in_flight      409 invalid_request_error
request_too_large              413 invalid_request_error
idempotency_key_reused         422 invalid_request_error
daily_budget_exceeded          429 rate_limit_error
rpm_exceeded                   429 rate_limit_error
tpm_exceeded                   429 rate_limit_error
internal_error                 500 api_error
upstream_config_error          500 api_error
upstream_error                 502 api_error
no_capacity                    503 service_unavailable_error
`;

describe('the error table', () => {
  it('contains exactly the 36 codes of the contract with their status and type', () => {
    const rows = errorCodes.map((code) => [code, String(errorTable[code].httpStatus), errorTable[code].type]);
    const expected = contract
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/));
    expect(rows).toHaveLength(36);
    expect([...rows].sort()).toEqual([...expected].sort());
  });

  it('advises clients to fix the request for every 400, 401, 403, 404, 413 and 422', () => {
    for (const code of errorCodes) {
      const { httpStatus, advice } = errorTable[code];
      if ([400, 401, 403, 404, 413, 422].includes(httpStatus)) expect([code, advice]).toEqual([code, 'fix']);
      else expect([code, advice]).not.toEqual([code, 'fix']);
    }
  });

  it('never mentions "rate limit" outside 429, nor words that make SDKs stop retrying a per-minute limit', () => {
    for (const code of errorCodes) {
      const { httpStatus, message } = errorTable[code];
      if (httpStatus !== 429) expect(message).not.toMatch(/rate[\s_-]*limit/i);
      expect(message).not.toMatch(/billing|quota exhausted/i);
    }
  });

  it('has a fixed wait for no_capacity and idempotency_key_in_flight only', () => {
    const fixed = errorCodes.filter((code) => errorTable[code].retryAfterMs !== undefined);
    expect(fixed.map((code) => [code, errorTable[code].retryAfterMs])).toEqual([
      ['idempotency_key_in_flight', 2_000],
      ['no_capacity', 10_000],
    ]);
    expect(errorTable.no_capacity.message).toContain('Retry in 10 seconds');
  });

  it('maps each code to a gRPC error status', () => {
    for (const code of errorCodes) expect(GrpcStatus[errorTable[code].grpcStatus]).toBeDefined();
  });

  it('does not accept inherited property names as codes', () => {
    expect(isErrorCode('toString')).toBe(false);
    expect(isErrorCode('__proto__')).toBe(false);
    expect(isErrorCode('no_capacity')).toBe(true);
  });
});
