import assert from 'node:assert/strict';
import { nothingReserved } from '../../src/testing/accounting';
import { eventually } from '../../src/testing/eventually';
import {
  assertError,
  body,
  casesOf,
  chat,
  directive,
  everyDialect,
  get,
  inOneMinute,
  LONG_STREAM,
  openStreams,
  completionFormats,
  everyFormat,
} from '../framework';

export const limitCases = casesOf('8', [
  {
    title: 'exceeding the concurrency limit returns rpm_exceeded with retry-after 1, identified in metadata',
    formats: completionFormats,
    needs: ['emulator'],
    async verify(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { concurrency: 2 } });
      const complete = () => chat(deployment, body(deployment), { apiKey });
      const { responses, cancel } = await openStreams(deployment, body(deployment, LONG_STREAM), [
        { apiKey },
        { apiKey },
      ]);
      try {
        for (const { status } of responses) assert.equal(status, 200);
        const refused = await complete();
        assertError(refused, 'rpm_exceeded', {
          metadata: { limit_type: 'concurrency', scope: 'organization', limit: 2 },
        });
        assert.equal(refused.headers['retry-after'], '1');
      } finally {
        await cancel();
      }
      await eventually('the slots of the cancelled streams are released', async () => {
        const both = await Promise.all([complete(), complete()]);
        return both.every(({ status }) => status === 200) || undefined;
      });
      assert.equal((await complete()).status, 200, 'completed requests have released theirs');
    },
  },
  {
    title: 'a rejected request consumes no requests, tokens, slots or credit',
    formats: everyFormat,
    verify: (deployment) =>
      inOneMinute(async () => {
        const tenant = await deployment.tenant({
          limits: { requests_per_minute: 1, concurrency: 1, daily_budget_usd: '50' },
          credit: '0.000000001',
        });
        for (let index = 0; index < 5; index += 1) {
          assertError(
            await chat(deployment, body(deployment), { apiKey: tenant.apiKey }),
            'insufficient_credits',
          );
          assertError(
            await chat(deployment, body(deployment, { zebra: 1 }), { apiKey: tenant.apiKey }),
            'unknown_parameter',
          );
        }
        await tenant.addCredit('10.00');
        assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
        await nothingReserved(deployment.baseUrl, tenant.apiKey);
      }),
  },
  {
    title: 'a request that reached a provider counts, regardless of the response',
    formats: everyFormat,
    needs: ['emulator'],
    verify: (deployment) =>
      inOneMinute(async () => {
        const tenant = await deployment.tenant({
          limits: { requests_per_minute: 1, tokens_per_minute: 100_000 },
        });
        const failing = body(deployment, directive('[[fault:400]]'));
        const failed = await chat(deployment, failing, { apiKey: tenant.apiKey });
        assertError(failed, 'invalid_request');
        const refused = await chat(deployment, failing, { apiKey: tenant.apiKey });
        assertError(refused, 'rpm_exceeded', { metadata: { limit_type: 'rpm', limit: 1 } });
        assert.equal(refused.headers['x-ratelimit-remaining-tokens'], '100000', 'it used no tokens');
        await nothingReserved(deployment.baseUrl, tenant.apiKey);
      }),
  },
  {
    title: "a key's daily budget applies in addition to the organization's",
    formats: everyFormat,
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { daily_budget_usd: '50' } });
      const limited = await tenant.createKey({ daily_budget_usd: '0.000000001' });
      assertError(
        await chat(deployment, body(deployment), { apiKey: limited.apiKey }),
        'daily_budget_exceeded',
        {
          metadata: { limit_type: 'daily_budget', scope: 'key' },
        },
      );
      assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
    },
  },
  {
    title:
      'weekly, monthly and total budgets of key and organization are 402 with scope and limit_type, before the day',
    async verify(deployment) {
      const tiny = '0.000000001';
      for (const [field, limitType] of [
        ['weekly_budget_usd', 'weekly_budget'],
        ['monthly_budget_usd', 'monthly_budget'],
        ['total_budget_usd', 'total_budget'],
      ] as const) {
        const owner = await deployment.tenant({ limits: { [field]: tiny, daily_budget_usd: tiny } });
        const ofOrganization = await chat(deployment, body(deployment), { apiKey: owner.apiKey });
        assertError(ofOrganization, 'insufficient_credits', {
          metadata: { limit_type: limitType, scope: 'organization', limit: 0.000000001 },
        });
        const tenant = await deployment.tenant({ limits: { [field]: '50' } });
        const limited = await tenant.createKey({ [field]: tiny });
        const ofKey = await chat(deployment, body(deployment), { apiKey: limited.apiKey });
        assertError(ofKey, 'insufficient_credits', {
          metadata: { limit_type: limitType, scope: 'key', available: 0.000000001 },
        });
        assert.equal(ofKey.headers['retry-after'], undefined);
        assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
      }
    },
  },
  {
    title:
      'budgets of a project apply to all of its keys, with the scope project, and usage is filtered by project',
    async verify(deployment) {
      const tenant = await deployment.tenant();
      for (const [field, limitType, code] of [
        ['daily_budget_usd', 'daily_budget', 'daily_budget_exceeded'],
        ['weekly_budget_usd', 'weekly_budget', 'insufficient_credits'],
        ['monthly_budget_usd', 'monthly_budget', 'insufficient_credits'],
        ['total_budget_usd', 'total_budget', 'insufficient_credits'],
      ] as const) {
        const project_id = await tenant.createProject({ [field]: '0.000000001' });
        const { apiKey, keyId } = await tenant.createKey({ project_id });
        assertError(await chat(deployment, body(deployment), { apiKey }), code, {
          metadata: { limit_type: limitType, scope: 'project', limit: 0.000000001 },
        });
        await tenant.updateKey(keyId, { project_id: null });
        assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
      }
      const project = await tenant.createProject();
      const { apiKey } = await tenant.createKey({ project_id: project });
      assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
      await eventually('the usage of the project', async () => {
        const usage = await get(deployment, `/v1/usage?project_id=${project}`, { apiKey });
        const { project_id, totals } = usage.json<{ project_id: string; totals: { requests: number } }>();
        assert.equal(project_id, project);
        assert.ok(totals.requests <= 1, 'only the requests of the project');
        return totals.requests === 1 ? true : undefined;
      });
      assertError(await get(deployment, '/v1/usage?project_id=x', { apiKey }), 'invalid_request', {
        param: 'project_id',
      });
    },
  },
  {
    title: 'responses show the remaining amount of the most restrictive limit',
    formats: everyFormat,
    async verify(deployment) {
      const tenant = await deployment.tenant({
        limits: { requests_per_minute: 50, tokens_per_minute: 1_000_000 },
      });
      const { headers } = await chat(deployment, body(deployment), { apiKey: tenant.apiKey });
      assert.equal(headers['x-ratelimit-limit-requests'], '50');
      assert.equal(headers['x-ratelimit-remaining-requests'], '49');
      assert.match(String(headers['x-ratelimit-reset-requests']), /^(\d+m)?\d+(\.\d+)?m?s$/);
      assert.equal(headers['x-ratelimit-limit-tokens'], '1000000');
      assert.ok(Number(headers['x-ratelimit-remaining-tokens']) < 1_000_000);
    },
  },
  {
    title: 'without max_tokens, the effective limit is sent to the provider and limits the response',
    formats: completionFormats,
    needs: ['emulator'],
    dialects: everyDialect,
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { max_output_tokens: 7 } });
      const response = await chat(
        deployment,
        body(deployment, { max_tokens: undefined, ...directive('[[tokens:500]]') }),
        { apiKey: tenant.apiKey },
      );
      const completion = response.json<{
        usage: { completion_tokens: number };
        choices: { finish_reason: string }[];
      }>();
      assert.equal(completion.usage.completion_tokens, 7);
      assert.equal(completion.choices[0]?.finish_reason, 'length');
    },
  },
]);
