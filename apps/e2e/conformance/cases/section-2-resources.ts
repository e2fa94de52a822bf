import assert from 'node:assert/strict';
import { settledGeneration } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, get, everyFormat } from '../framework';

export const resourceCases = casesOf('2', [
  {
    title: 'a key starts with sk-gw-, has at least 256 random bits, and is shown in full only once',
    async verify(deployment) {
      const { apiKey, keyId } = await deployment.shared.createKey();
      assert.match(apiKey, /^sk-gw-[A-Za-z0-9_-]{43,}$/);
      const path = `/api/organizations/${deployment.shared.organizationId}/keys`;
      const listed = await deployment.admin.call<{ data: { id: string; last4: string }[] }>('GET', path);
      const found = listed.data.find(({ id }) => id === keyId);
      assert.equal(found?.last4, apiKey.slice(-4));
      assert.ok(!JSON.stringify(listed).includes(apiKey));
      assert.ok(!JSON.stringify(await deployment.admin.call('GET', '/api/audit')).includes(apiKey));
    },
  },
  {
    title: "a key's limits must not exceed the organization's",
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { requests_per_minute: 10, daily_budget_usd: '5' } });
      await tenant.createKey({ requests_per_minute: 10, daily_budget_usd: '5' });
      await assert.rejects(tenant.createKey({ requests_per_minute: 11 }));
      await assert.rejects(tenant.createKey({ daily_budget_usd: '5.01' }));
    },
  },
  {
    title:
      'metadata is an empty object if an error has no extra data; param is absent if no field is at fault',
    async verify(deployment) {
      const error = assertError(await chat(deployment, '{'), 'invalid_json', { param: null });
      assert.deepEqual(error.metadata, {});
    },
  },
  {
    title: 'a generation is retrievable after settlement',
    formats: everyFormat,
    async verify(deployment) {
      const { id } = (await chat(deployment, body(deployment))).json<{ id: string }>();
      const generation = await settledGeneration(deployment.baseUrl, deployment.shared.apiKey, id);
      assert.equal(generation.id, id);
      assert.equal((await get(deployment, `/v1/generation?id=${id}`)).status, 200);
    },
  },
]);
