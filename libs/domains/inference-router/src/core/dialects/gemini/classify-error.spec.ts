import { noHeader } from '../../../testing/assemble';
import { gemini } from './index';

const type = (name: string) => `type.googleapis.com/google.rpc.${name}`;
const body = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, message, status, details },
});
const kindOf = (response: { error: { code: number } }, status: number | undefined = response.error.code) =>
  gemini.kindOfError(gemini.readError(response, noHeader), status, 'gemini-3-pro');
const errorInfo = (reason: string) => ({ '@type': type('ErrorInfo'), reason, domain: 'googleapis.com' });
const quota = (violation: object) => ({ '@type': type('QuotaFailure'), violations: [violation] });

describe("Gemini's errors", () => {
  it.each([
    ['rejected', body(400, 'INVALID_ARGUMENT', 'Invalid value at contents[0].parts.')],
    ['rejected', body(400, 'OUT_OF_RANGE', 'temperature must be in the range [0.0, 2.0].')],
    ['rejected', body(400, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit: 20971520 bytes.')],
    [
      'context_too_long',
      body(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
    ],
    [
      'context_too_long',
      body(
        400,
        'INVALID_ARGUMENT',
        'The input token count exceeds the maximum number of tokens allowed 1048576.',
      ),
    ],
    [
      'context_too_long',
      body(
        400,
        'INVALID_ARGUMENT',
        'Unable to submit request because the input token count is 34567 but model only supports up to 32768. Reduce the input token count and try again.',
      ),
    ],
    [
      'misconfigured',
      body(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        errorInfo('API_KEY_INVALID'),
      ]),
    ],
    ['misconfigured', body(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.')],
    ['misconfigured', body(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.')],
    ['misconfigured', body(400, 'INVALID_ARGUMENT', 'The model gemini-3-pro is not supported here.')],
    ['misconfigured', body(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')],
    ['misconfigured', body(403, 'PERMISSION_DENIED', 'Your API key was reported as leaked.')],
    ['misconfigured', body(403, 'PERMISSION_DENIED', 'Enable the API.', [errorInfo('SERVICE_DISABLED')])],
    ['misconfigured', body(404, 'NOT_FOUND', 'models/x is not found for API version v1beta.')],
    ['throttled', body(429, 'RESOURCE_EXHAUSTED', 'Resource exhausted. Please try again later.')],
    [
      'throttled',
      body(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
        [quota({ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' })],
      ),
    ],
    ['throttled', body(403, 'PERMISSION_DENIED', 'Quota exceeded.', [errorInfo('RATE_LIMIT_EXCEEDED')])],
    [
      'misconfigured',
      body(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
        quota({ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }),
      ]),
    ],
    [
      'misconfigured',
      body(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
        quota({ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier', quotaValue: '0' }),
      ]),
    ],
    [
      'misconfigured',
      body(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for metric: x, limit: 0, model: gemini-3-pro'),
    ],
    ['misconfigured', body(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.')],
    ['misconfigured', body(403, 'PERMISSION_DENIED', 'This API method requires billing to be enabled.')],
    ['rejected', body(400, 'INVALID_ARGUMENT', "Invalid enum value 'prepaid, limit: 0'.")],
    ['failed', body(409, 'ABORTED', 'Aborted.')],
    ['failed', body(499, 'CANCELLED', 'The operation was cancelled.')],
    ['failed', body(500, 'INTERNAL', 'An internal error has occurred.')],
    ['failed', body(504, 'DEADLINE_EXCEEDED', 'The request timed out.')],
    ['unavailable', body(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')],
  ])('are %s: %j', (kind, response) => {
    expect(kindOf(response)).toBe(kind);
    expect(kindOf(response, undefined)).toBe(kind);
    expect(
      gemini.kindOfError(gemini.readError([response], noHeader), response.error.code, 'gemini-3-pro'),
    ).toBe(kind);
  });

  it.each([
    [307, 'misconfigured'],
    [400, 'rejected'],
    [404, 'misconfigured'],
    [408, 'timed_out'],
    [409, 'failed'],
    [413, 'rejected'],
    [429, 'throttled'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'unavailable'],
    [504, 'failed'],
  ])('without a status of google.rpc are read by HTTP: %i is %s', (status, kind) => {
    for (const unreadable of [
      undefined,
      '<html>',
      {},
      { error: 'text' },
      [],
      { error: { status: 'constructor' } },
    ]) {
      expect(gemini.kindOfError(gemini.readError(unreadable, noHeader), status, 'gemini-3-pro')).toBe(kind);
    }
  });

  it('have the reason as their code, else the status, else the number', () => {
    const codeOf = (response: object) => gemini.readError(response, noHeader).code;
    expect(codeOf(body(400, 'INVALID_ARGUMENT', 'x', [errorInfo('API_KEY_INVALID')]))).toBe(
      'API_KEY_INVALID',
    );
    expect(codeOf(body(503, 'UNAVAILABLE', 'x'))).toBe('UNAVAILABLE');
    expect(codeOf({ error: { code: 503, message: 'x' } })).toBe('503');
  });

  it.each([
    ['34.4s', 34_400],
    ['7s', 7_000],
    [{ seconds: '2', nanos: 500_000_000 }, 2_500],
    ['999999s', 3_600_000],
    ['soon', undefined],
    [-1, undefined],
  ])('have the wait of RetryInfo: %j', (retryDelay, ms) => {
    const response = body(429, 'RESOURCE_EXHAUSTED', 'x', [{ '@type': type('RetryInfo'), retryDelay }]);
    expect(gemini.readError(response, noHeader).retryAfterMs).toBe(ms);
  });

  it.each([
    ['generation_config.top_p', 'top_p'],
    ['generationConfig.thinkingConfig.thinkingBudget', 'reasoning_effort'],
    ['contents[0].parts[1]', 'messages'],
    ['tools[0].function_declarations[0].name', 'tools'],
    ['safety_settings', undefined],
    ['constructor', undefined],
  ])('have the public name of the field %s', (field, param) => {
    const details = [{ '@type': type('BadRequest'), fieldViolations: [{ field, description: 'x' }] }];
    expect(gemini.readError(body(400, 'INVALID_ARGUMENT', 'x', details), noHeader).param).toBe(param);
  });
});
