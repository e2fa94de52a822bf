import assert from 'node:assert/strict';
import { AdminCallFailed } from '@gateway/test-support';
import { assertError, body, casesOf, chat, day, get } from '../framework';

/** Restrictions of a key by IP address, model, date and tokens. */
export const restrictionCases = casesOf('5', [
  {
    title: 'an IP allowlist accepts only IPv4 and IPv6 addresses and CIDR ranges',
    async verify(deployment) {
      const { createKey, updateKey } = deployment.shared;
      const unrestricted = await createKey({ ip_allowlist: ['0.0.0.0/0', '::/0'] });
      const { apiKey } = unrestricted;
      assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
      await updateKey(unrestricted.keyId, {
        ip_allowlist: ['192.0.2.0/24', '2001:db8::/32', '198.51.100.7'],
      });
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
    title: 'headers sent by a client do not change its IP address',
    async verify(deployment) {
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
    title: 'only allowed models can be called, and only they are listed',
    async verify(deployment) {
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
    title: 'a key works until the end of its expiry date, on every endpoint',
    async verify(deployment) {
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
    title: "a key's token limit applies only to that key",
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { tokens_per_minute: 1_000_000 } });
      const narrow = await tenant.createKey({ tokens_per_minute: 5 });
      const responses = [];
      // At least two of three requests are in the same window.
      for (let index = 0; index < 3; index += 1) {
        responses.push(await chat(deployment, body(deployment), { apiKey: narrow.apiKey }));
      }
      const refused = responses.find(({ status }) => status !== 200);
      assert.ok(refused);
      assertError(refused, 'tpm_exceeded', { metadata: { limit_type: 'tpm', scope: 'key', limit: 5 } });
      assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
    },
  },
]);
