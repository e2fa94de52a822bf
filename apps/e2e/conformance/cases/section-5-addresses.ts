import assert from 'node:assert/strict';
import { AdminCallFailed } from '@gateway/test-support';
import { assertError, body, casesOf, chat, day, get } from '../framework';

/** Restrictions of a key by address, model, day and amount. */
export const restrictionCases = casesOf('5', [
  {
    line: 'an allowlist takes IPv4 and IPv6 addresses and ranges, and nothing that is neither',
    async prove(deployment) {
      const { createKey, updateKey } = deployment.shared;
      const everybody = await createKey({ ip_allowlist: ['0.0.0.0/0', '::/0'] });
      const { apiKey } = everybody;
      assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
      await updateKey(everybody.keyId, { ip_allowlist: ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7'] });
      assertError(await get(deployment, '/v1/models', { apiKey }), 'ip_not_allowed');
      for (const entry of ['localhost', '300.1.1.1', '10.0.0.0/33', '2001:db8::/129', '10.0.0', '*', '']) {
        await assert.rejects(
          createKey({ ip_allowlist: [entry] }),
          (error) => error instanceof AdminCallFailed && error.status === 400,
          entry,
        );
      }
    },
  },
  {
    line: 'headers that a caller writes do not change where it calls from',
    async prove(deployment) {
      const { apiKey } = await deployment.shared.createKey({ ip_allowlist: ['192.0.2.1'] });
      for (const name of [
        'x-forwarded-for',
        'x-real-ip',
        'forwarded',
        'cf-connecting-ip',
        'true-client-ip',
      ]) {
        const value = name === 'forwarded' ? 'for=192.0.2.1' : '192.0.2.1';
        assertError(
          await get(deployment, '/v1/models', { apiKey, headers: { [name]: value } }),
          'ip_not_allowed',
        );
      }
    },
  },
  {
    line: 'allowed models restrict each model by itself; the list names only those',
    async prove(deployment) {
      const [first, second, third] = deployment.models;
      assert.ok(first && second && third, 'three models');
      const { apiKey } = await deployment.shared.createKey({ allowed_models: [first.id, third.id] });
      const listed = (await get(deployment, '/v1/models', { apiKey })).json<{ data: { id: string }[] }>();
      assert.deepEqual(
        listed.data.map(({ id }) => id),
        [first.id, third.id].sort(),
      );
      for (const model of [first.id, third.id]) {
        const response = await chat(deployment, body(deployment, { model, max_tokens: 5 }), { apiKey });
        assert.equal(response.status, 200, response.text);
      }
      assertError(
        await chat(deployment, body(deployment, { model: second.id }), { apiKey }),
        'model_not_allowed',
        {
          param: 'model',
          messageHas: [second.id],
        },
      );
    },
  },
  {
    line: 'a key works through its expiry date and not on the day after; on every endpoint alike',
    async prove(deployment) {
      const { apiKey, keyId } = await deployment.shared.createKey({ expires_on: day(0) });
      const paths = ['/v1/models', '/v1/credits', '/v1/usage'];
      for (const path of paths) assert.equal((await get(deployment, path, { apiKey })).status, 200, path);
      await deployment.shared.updateKey(keyId, { expires_on: day(-1) });
      for (const path of [...paths, '/v1/generation?id=x']) {
        assertError(await get(deployment, path, { apiKey }), 'key_expired', { param: null });
      }
      assertError(await chat(deployment, body(deployment), { apiKey }), 'key_expired', { param: null });
    },
  },
  {
    line: 'the token cap of a key refuses that key alone',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { tokens_per_minute: 1_000_000 } });
      const narrow = await tenant.createKey({ tokens_per_minute: 5 });
      const answers = [];
      // Of three requests two fall into one window.
      for (let index = 0; index < 3; index += 1) {
        answers.push(await chat(deployment, body(deployment), { apiKey: narrow.apiKey }));
      }
      const refused = answers.find(({ status }) => status !== 200);
      assert.ok(refused);
      assertError(refused, 'tpm_exceeded', { metadata: { limit_type: 'tpm', scope: 'key', limit: 5 } });
      assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
    },
  },
]);
