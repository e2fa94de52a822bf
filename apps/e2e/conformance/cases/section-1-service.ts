import assert from 'node:assert/strict';
import { nothingReserved, settledGeneration } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, get } from '../framework';

export const serviceCases = casesOf('1', [
  {
    title: 'billing is prepaid: a request is rejected when the balance does not cover its estimated cost',
    async verify(deployment) {
      const tenant = await deployment.tenant({ credit: '0' });
      const { apiKey } = tenant;
      assertError(await chat(deployment, body(deployment), { apiKey }), 'insufficient_credits', {
        metadata: { available: 0 },
      });
      for (const path of ['/v1/models', '/v1/credits', '/v1/usage']) {
        assert.equal((await get(deployment, path, { apiKey })).status, 200, 'reads are free');
      }
    },
  },
  {
    title: 'accounts belong to an organization: its keys share a balance and can read its generations',
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const colleague = await tenant.createKey();
      const { id } = (await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).json<{
        id: string;
      }>();
      const own = await nothingReserved(deployment.baseUrl, tenant.apiKey);
      const others = await nothingReserved(deployment.baseUrl, colleague.apiKey);
      assert.deepEqual(own, others);
      const found = await settledGeneration(deployment.baseUrl, colleague.apiKey, id);
      assert.equal(found.id, id);
    },
  },
]);
