import assert from 'node:assert/strict';
import { assertError, body, casesOf, chat, day, directive } from '../framework';

const RETRY_SECONDS_MAX = 60;

/** Errors of money, limits and repeated requests, one case per code, with everything that the contract says of it. */
export const limitErrorCases = casesOf('7', [
  {
    code: 'insufficient_credits',
    line: 'a balance that does not cover the estimate is refused; metadata carries available and estimate',
    async prove(deployment) {
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
    line: 'the same Idempotency-Key while the first attempt runs is refused with retry-after 2',
    needs: ['emulator'],
    async prove(deployment) {
      const headers = { 'idempotency-key': `in-flight-${Date.now()}` };
      const request = body(deployment, directive('[[delay:2000]]'));
      const first = chat(deployment, request, { headers });
      // The claim is taken before the provider is called; the second comes while it delays.
      await new Promise((resolve) => setTimeout(resolve, 700));
      const second = await chat(deployment, request, { headers });
      assertError(second, 'idempotency_key_in_flight');
      assert.equal(second.headers['retry-after'], '2');
      assert.equal((await first).status, 200);
    },
  },
  {
    code: 'idempotency_key_reused',
    line: 'the same Idempotency-Key with a different body is refused',
    async prove(deployment) {
      const headers = { 'idempotency-key': `reused-${Date.now()}` };
      const first = await chat(deployment, body(deployment), { headers });
      assert.equal(first.status, 200);
      const second = await chat(deployment, body(deployment, { max_tokens: 17 }), { headers });
      assertError(second, 'idempotency_key_reused');
    },
  },
  {
    code: 'daily_budget_exceeded',
    line: 'a reached daily cap is refused; retry-after counts to midnight UTC; not to be retried by itself',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { daily_budget_usd: '0.000000001' } });
      const response = await chat(deployment, body(deployment), { apiKey: tenant.apiKey });
      assertError(response, 'daily_budget_exceeded', {
        metadata: { limit_type: 'daily_budget', scope: 'organization', limit: 0.000000001 },
      });
      const untilMidnight = Math.ceil((Date.parse(`${day(1)}T00:00:00Z`) - Date.now()) / 1000);
      const retryAfter = Number(response.headers['retry-after']);
      assert.ok(Math.abs(retryAfter - untilMidnight) <= 2, `${retryAfter} is not about ${untilMidnight}`);
      assert.equal(response.headers['x-should-retry'], 'false');
    },
  },
  {
    code: 'rpm_exceeded',
    line: 'too many requests in the minute are refused; retry-after is what is left of it',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { requests_per_minute: 1 } });
      const responses = [];
      // Three requests touch at most two windows, so one of them is refused at any time of the minute.
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
    line: 'a spent token budget is refused; retry-after is what is left of the minute',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { tokens_per_minute: 10 } });
      const responses = [];
      for (let index = 0; index < 3; index += 1) {
        responses.push(await chat(deployment, body(deployment), { apiKey: tenant.apiKey }));
      }
      // An empty window admits a request above its cap; the next one finds it spent.
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
