import assert from 'node:assert/strict';
import {
  assertError,
  body,
  casesOf,
  chat,
  day,
  directive,
  openStreams,
  completionFormats,
  everyFormat,
} from '../framework';

const RETRY_SECONDS_MAX = 60;

/** Credit, limit and idempotency errors, one case per code. */
export const limitErrorCases = casesOf('7', [
  {
    code: 'insufficient_credits',
    title: 'a request is rejected if the balance does not cover the estimate; metadata contains both amounts',
    formats: completionFormats,
    async verify(deployment) {
      const tenant = await deployment.tenant({ credit: '0.00000001' });
      const response = await chat(deployment, body(deployment), { apiKey: tenant.apiKey });
      const error = assertError(response, 'insufficient_credits', {
        messageHas: ['max_tokens'],
        metadata: { available: 0.00000001, currency: 'USD' },
      });
      assert.ok((error.metadata.estimated_cost as number) > 0.00000001);
      assert.equal(response.headers['retry-after'], undefined);
    },
  },
  {
    code: 'idempotency_key_in_flight',
    title: 'the same Idempotency-Key is rejected with retry-after 2 while the first request runs',
    formats: completionFormats,
    needs: ['emulator'],
    async verify(deployment) {
      const headers = { 'idempotency-key': `in-flight-${Date.now()}` };
      // It keeps running for a client that resumes it, also after the disconnect.
      const request = body(deployment, { stream: true, ...directive('[[tokens:16]] [[rate:2]]') });
      const { responses, cancel } = await openStreams(deployment, request, [{ headers }]);
      try {
        assert.equal(responses[0]?.status, 200);
        const second = await chat(deployment, request, { headers });
        assertError(second, 'idempotency_key_in_flight');
        assert.equal(second.headers['retry-after'], '2');
      } finally {
        await cancel();
      }
    },
  },
  {
    code: 'idempotency_key_reused',
    title: 'the same Idempotency-Key with a different body is rejected',
    formats: completionFormats,
    async verify(deployment) {
      const headers = { 'idempotency-key': `reused-${Date.now()}` };
      const first = await chat(deployment, body(deployment), { headers });
      assert.equal(first.status, 200);
      const second = await chat(deployment, body(deployment, { max_tokens: 17 }), { headers });
      assertError(second, 'idempotency_key_reused');
    },
  },
  {
    code: 'daily_budget_exceeded',
    title:
      'a request above the daily budget is rejected; retry-after is the time until midnight UTC; SDKs must not retry',
    formats: everyFormat,
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { daily_budget_usd: '0.000000001' } });
      const response = await chat(deployment, body(deployment), { apiKey: tenant.apiKey });
      assertError(response, 'daily_budget_exceeded', {
        metadata: { limit_type: 'daily_budget', scope: 'organization', limit: 0.000000001 },
      });
      const untilMidnight = Math.ceil((Date.parse(`${day(1)}T00:00:00Z`) - Date.now()) / 1000);
      const retryAfter = Number(response.headers['retry-after']);
      assert.ok(Math.abs(retryAfter - untilMidnight) <= 2, `${retryAfter} is not close to ${untilMidnight}`);
      assert.equal(response.headers['x-should-retry'], 'false');
    },
  },
  {
    code: 'rpm_exceeded',
    title: 'too many requests per minute are rejected; retry-after is the remaining time of the minute',
    formats: everyFormat,
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { requests_per_minute: 1 } });
      const responses = [];
      // Three requests span at most two windows, so at least one is rejected.
      for (let index = 0; index < 3; index += 1) {
        responses.push(await chat(deployment, body(deployment), { apiKey: tenant.apiKey }));
      }
      const refused = responses.find(({ status }) => status !== 200);
      assert.ok(refused);
      assertError(refused, 'rpm_exceeded', {
        metadata: { limit_type: 'rpm', scope: 'organization', limit: 1 },
      });
      const seconds = Number(refused.headers['retry-after']);
      assert.ok(seconds >= 1 && seconds <= RETRY_SECONDS_MAX);
      assert.ok(Number(refused.headers['retry-after-ms']) <= 59_999);
    },
  },
  {
    code: 'tpm_exceeded',
    title: 'an exhausted token limit rejects requests; retry-after is the remaining time of the minute',
    formats: completionFormats,
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { tokens_per_minute: 10 } });
      const responses = [];
      for (let index = 0; index < 3; index += 1) {
        responses.push(await chat(deployment, body(deployment), { apiKey: tenant.apiKey }));
      }
      // An empty window admits a request above its limit, which exhausts it.
      assert.equal(responses[0]?.status, 200);
      const refused = responses.find(({ status }) => status !== 200);
      assert.ok(refused);
      assertError(refused, 'tpm_exceeded', {
        metadata: { limit_type: 'tpm', scope: 'organization', limit: 10 },
      });
      const seconds = Number(refused.headers['retry-after']);
      assert.ok(seconds >= 1 && seconds <= RETRY_SECONDS_MAX);
    },
  },
]);
