import assert from 'node:assert/strict';
import { nothingReserved } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, day, get, everyFormat } from '../framework';

/** Authentication, permission and not-found errors, one case per code. */
export const accessErrorCases = casesOf('7', [
  {
    code: 'invalid_api_key',
    title: 'an unknown key is rejected',
    formats: everyFormat,
    async verify(deployment) {
      for (const apiKey of ['sk-gw-unknown', 'sk-other-format', 'x']) {
        assertError(await chat(deployment, body(deployment), { apiKey }), 'invalid_api_key', { param: null });
      }
    },
  },
  {
    code: 'ip_not_allowed',
    title: "a client outside the key's IP allowlist is rejected; the key stays valid",
    async verify(deployment) {
      const { createKey, updateKey } = deployment.shared;
      const { apiKey, keyId } = await createKey({ ip_allowlist: ['192.0.2.1', '2001:db8::/32'] });
      assertError(await get(deployment, '/v1/models', { apiKey }), 'ip_not_allowed');
      // The deployment's view of our address is unknown, but the address is in exactly one of these ranges.
      const statuses: number[] = [];
      for (const half of ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1']) {
        await updateKey(keyId, { ip_allowlist: [half] });
        statuses.push((await get(deployment, '/v1/models', { apiKey })).status);
      }
      assert.deepEqual(statuses.sort(), [200, 401, 401, 401]);
    },
  },
  {
    code: 'key_expired',
    title: 'a key is rejected after its expiry date; on that date it works',
    async verify(deployment) {
      const past = await deployment.shared.createKey({ expires_on: day(-1) });
      assertError(await get(deployment, '/v1/models', { apiKey: past.apiKey }), 'key_expired');
      const today = await deployment.shared.createKey({ expires_on: day(0) });
      assert.equal((await get(deployment, '/v1/models', { apiKey: today.apiKey })).status, 200);
    },
  },
  {
    code: 'key_revoked',
    title: 'a revoked key is rejected immediately',
    async verify(deployment) {
      const { apiKey, keyId } = await deployment.shared.createKey();
      assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
      await deployment.shared.revokeKey(keyId);
      assertError(await get(deployment, '/v1/models', { apiKey }), 'key_revoked');
    },
  },
  {
    code: 'missing_scope',
    title: 'a key without the scope is rejected; the message names the scope',
    formats: everyFormat,
    async verify(deployment) {
      const usage = await deployment.shared.createKey({ scopes: ['usage:read'] });
      assertError(await chat(deployment, body(deployment), { apiKey: usage.apiKey }), 'missing_scope', {
        messageHas: ['chat'],
        metadata: { required_scope: 'chat' },
      });
      const chatOnly = await deployment.shared.createKey({ scopes: ['chat'] });
      for (const path of ['/v1/credits', '/v1/generation?id=gen-x', '/v1/usage']) {
        assertError(await get(deployment, path, { apiKey: chatOnly.apiKey }), 'missing_scope', {
          messageHas: ['usage:read'],
          metadata: { required_scope: 'usage:read' },
        });
      }
    },
  },
  {
    code: 'model_not_allowed',
    title: "a model outside the key's allowed models is rejected",
    formats: everyFormat,
    async verify(deployment) {
      const [first, second] = deployment.models;
      assert.ok(first && second);
      const { apiKey } = await deployment.shared.createKey({ allowed_models: [first.id] });
      assertError(
        await chat(deployment, body(deployment, { model: second.id }), { apiKey }),
        'model_not_allowed',
        {
          param: 'model',
        },
      );
      assert.equal((await chat(deployment, body(deployment, { model: first.id }), { apiKey })).status, 200);
    },
  },
  {
    code: 'org_suspended',
    title: 'all requests of a suspended organization are rejected until it is resumed',
    formats: everyFormat,
    async verify(deployment) {
      const tenant = await deployment.tenant();
      await tenant.setSuspended(true);
      const { apiKey } = tenant;
      for (const path of ['/v1/models', '/v1/credits', '/v1/generation?id=gen-x', '/v1/usage']) {
        assertError(await get(deployment, path, { apiKey }), 'org_suspended');
      }
      assertError(await chat(deployment, body(deployment), { apiKey }), 'org_suspended');
      await tenant.setSuspended(false);
      assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
    },
  },
  {
    code: 'generation_not_found',
    title: "a missing id, another organization's id and an unsettled id are not found",
    async verify(deployment) {
      for (const path of ['/v1/generation', '/v1/generation?id=', '/v1/generation?id=gen-unknown']) {
        assertError(await get(deployment, path), 'generation_not_found', { param: 'id' });
      }
      const other = await deployment.tenant();
      const foreign = (await chat(deployment, body(deployment), { apiKey: other.apiKey })).json<{
        id: string;
      }>();
      await nothingReserved(deployment.baseUrl, other.apiKey);
      assertError(await get(deployment, `/v1/generation?id=${foreign.id}`), 'generation_not_found', {
        param: 'id',
      });
    },
  },
  {
    code: 'model_not_found',
    title: 'an unknown model is not found',
    formats: everyFormat,
    async verify(deployment) {
      const unknown = assertError(
        await chat(deployment, body(deployment, { model: 'no/such-model' })),
        'model_not_found',
        { param: 'model' },
      );
      assert.ok(unknown.message.includes('no/such-model'));
    },
  },
  {
    code: 'route_not_found',
    title: 'an unknown path is not found, for example with a missing or duplicate /v1',
    async verify(deployment) {
      for (const path of [
        '/models',
        '/v1/v1/models',
        '/v1',
        '/v1/',
        '/v1/models/',
        '/V1/models',
        '//v1/models',
      ]) {
        assertError(await get(deployment, path), 'route_not_found', { param: null });
      }
    },
  },
]);
