import assert from 'node:assert/strict';
import { nothingReserved, settledGeneration } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, get } from '../framework';

export const serviceCases = casesOf('1', [
  {
    line: 'billing is prepaid: a request is rejected when the balance does not cover its estimated cost',
    async prove(deployment) {
      const tenant = await deployment.tenant({ credit: '0' });
      const { apiKey } = tenant;
      assertError(await chat(deployment, body(deployment), { apiKey }), 'insufficient_credits', {
        metadata: { available: 0 },
      });
      for (const path of ['/v1/models', '/v1/credits', '/v1/usage']) {
        assert.equal((await get(deployment, path, { apiKey })).status, 200, 'reading costs nothing');
      }
    },
  },
  {
    line: 'accounts belong to an organization: its keys share one balance and see its generations',
    async prove(deployment) {
      const tenant = await deployment.tenant();
      const colleague = await tenant.createKey();
      const { id } = (await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).json<{
        id: string;
      }>();
      const mine = await nothingReserved(deployment.baseUrl, tenant.apiKey);
      const theirs = await nothingReserved(deployment.baseUrl, colleague.apiKey);
      assert.deepEqual(mine, theirs);
      const seen = await settledGeneration(deployment.baseUrl, colleague.apiKey, id);
      assert.equal(seen.id, id);
    },
  },
]);
