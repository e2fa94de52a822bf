import { GatewayError } from '@gateway/errors';
import { addRetryHeaders, type ResponseHeaders, goDuration } from './response-headers';

it.each([
  [0, '0s'],
  [1, '1s'],
  [12_000, '12s'],
  [59_001, '1m0s'],
  [360_000, '6m0s'],
  [3_600_000, '1h0m0s'],
  [86_399_001, '24h0m0s'],
])('%d ms is %s', (ms, text) => {
  expect(goDuration(ms)).toBe(text);
});

function retryHeaders(error: GatewayError): ResponseHeaders {
  const headers: ResponseHeaders = {};
  addRetryHeaders(headers, error);
  return headers;
}

it.each([
  [new GatewayError('rpm_exceeded', { retryAfterMs: 0 }), { 'retry-after': 1, 'retry-after-ms': 1 }],
  [new GatewayError('rpm_exceeded', { retryAfterMs: 1_000 }), { 'retry-after': 1, 'retry-after-ms': 1_000 }],
  [
    new GatewayError('tpm_exceeded', { retryAfterMs: 12_001 }),
    { 'retry-after': 13, 'retry-after-ms': 12_001 },
  ],
  [
    new GatewayError('tpm_exceeded', { retryAfterMs: 60_000 }),
    { 'retry-after': 60, 'retry-after-ms': 59_999 },
  ],
  [
    new GatewayError('daily_budget_exceeded', { retryAfterMs: 7_200_000 }),
    { 'retry-after': 7_200, 'x-should-retry': 'false' },
  ],
  [
    new GatewayError('daily_budget_exceeded', { retryAfterMs: 7_200_000, retrySoonMs: 2_000 }),
    { 'retry-after': 7_200, 'retry-after-ms': 2_000, 'x-should-retry': 'true' },
  ],
  [
    new GatewayError('insufficient_credits', { retrySoonMs: 2_000 }),
    { 'retry-after': 2, 'retry-after-ms': 2_000, 'x-should-retry': 'true' },
  ],
  [new GatewayError('no_capacity'), { 'retry-after': 10, 'retry-after-ms': 10_000 }],
  [new GatewayError('no_capacity', { retryAfterMs: 3 }), { 'retry-after': 10, 'retry-after-ms': 10_000 }],
  [new GatewayError('idempotency_key_in_flight'), { 'retry-after': 2, 'retry-after-ms': 2_000 }],
  [new GatewayError('internal_error'), { 'x-should-retry': 'false' }],
  [new GatewayError('upstream_config_error'), { 'x-should-retry': 'false' }],
  [new GatewayError('upstream_error'), {}],
  [new GatewayError('request_timeout'), {}],
  [new GatewayError('insufficient_credits'), {}],
  [new GatewayError('invalid_api_key'), { 'www-authenticate': 'Bearer' }],
])('sets the retry headers of %s', (error, headers) => {
  expect(retryHeaders(error)).toEqual(headers);
});
