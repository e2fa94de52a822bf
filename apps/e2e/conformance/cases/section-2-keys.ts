import assert from 'node:assert/strict';
import { AdminCallFailed } from '@gateway/test-support';
import { assertError, body, casesOf, chat, get, type PublicModel } from '../framework';

/** Fields of keys and organizations, set in the dashboard. */
export const keyCases = casesOf('2', [
  {
    title: 'a key has one or both of the scopes chat and usage:read, and no other',
    async verify(deployment) {
      for (const scopes of [['chat'], ['usage:read'], ['chat', 'usage:read']]) {
        const { apiKey } = await deployment.shared.createKey({ scopes });
        assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
      }
      for (const scopes of [[], ['admin'], ['chat', 'everything']]) {
        await assert.rejects(deployment.shared.createKey({ scopes }), isRejectedWith400);
      }
    },
  },
  {
    title: 'every restriction of a key is optional and can be removed',
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { requests_per_minute: 1_000 } });
      const [first, second] = deployment.models as [PublicModel, PublicModel];
      const { apiKey, keyId } = await tenant.createKey({
        allowed_models: [first.id],
        ip_allowlist: ['192.0.2.7'],
        daily_budget_usd: '0.000000001',
      });
      const complete = () => chat(deployment, body(deployment, { model: second.id }), { apiKey });
      assertError(await complete(), 'ip_not_allowed');
      await tenant.updateKey(keyId, { ip_allowlist: [] });
      assertError(await complete(), 'model_not_allowed');
      await tenant.updateKey(keyId, { allowed_models: null });
      assertError(await complete(), 'daily_budget_exceeded');
      await tenant.updateKey(keyId, { daily_budget_usd: null });
      assert.equal((await complete()).status, 200);
    },
  },
  {
    title: "a key's limits for requests, tokens, concurrency and budget must not exceed the organization's",
    async verify(deployment) {
      const limits = {
        requests_per_minute: 10,
        tokens_per_minute: 1_000,
        concurrency: 5,
        daily_budget_usd: '2.5',
        monthly_budget_usd: '30',
        total_budget_usd: '40',
      };
      const tenant = await deployment.tenant({ limits });
      await tenant.createKey(limits);
      for (const above of [
        { requests_per_minute: 11 },
        { tokens_per_minute: 1_001 },
        { concurrency: 6 },
        { daily_budget_usd: '2.500000001' },
        { monthly_budget_usd: '30.000000001' },
        { total_budget_usd: '40.000000001' },
      ]) {
        await assert.rejects(tenant.createKey(above), isRejectedWith400);
        await assert.rejects(tenant.updateKey(tenant.keyId, above), isRejectedWith400);
      }
    },
  },
  {
    title: "when the organization's limit is lowered below a key's, the key's is lowered with it",
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { daily_budget_usd: '50' } });
      const { apiKey } = await tenant.createKey({ daily_budget_usd: '40' });
      await tenant.setLimits({ daily_budget_usd: '0.000000001' });
      assertError(await chat(deployment, body(deployment), { apiKey }), 'daily_budget_exceeded', {
        metadata: { limit: 0.000000001 },
      });
      for (const field of ['weekly_budget_usd', 'monthly_budget_usd', 'total_budget_usd']) {
        const other = await deployment.tenant({ limits: { [field]: '50' } });
        const key = await other.createKey({ [field]: '40' });
        await other.setLimits({ [field]: '0.000000001' });
        const response = await chat(deployment, body(deployment), { apiKey: key.apiKey });
        assertError(response, 'insufficient_credits', { metadata: { scope: 'key', limit: 0.000000001 } });
      }
    },
  },
]);

function isRejectedWith400(error: unknown): boolean {
  assert.ok(error instanceof AdminCallFailed);
  assert.equal(error.status, 400);
  return true;
}
