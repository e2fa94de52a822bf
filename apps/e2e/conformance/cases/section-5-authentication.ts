import assert from 'node:assert/strict';
import { assertError, body, casesOf, chat, day, directive, get, send } from '../framework';

export const authenticationCases = casesOf('5', [
  {
    title: 'every endpoint requires the Authorization header',
    async verify(deployment) {
      for (const path of ['/v1/models', '/v1/credits', '/v1/generation?id=x', '/v1/usage']) {
        assertError(await send(deployment, { path }), 'invalid_api_key', { param: null });
      }
      const response = await send(deployment, {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body(deployment)),
      });
      assertError(response, 'invalid_api_key', { param: null });
    },
  },
  {
    title:
      'the header is Authorization: Bearer <key>; the scheme is case-insensitive, and other forms are rejected',
    async verify(deployment) {
      const key = deployment.shared.apiKey;
      for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key} `]) {
        const response = await send(deployment, { path: '/v1/models', headers: { authorization } });
        assert.equal(response.status, 200, JSON.stringify(authorization.replace(key, '…')));
      }
      for (const authorization of [
        key,
        `Basic ${key}`,
        'Bearer',
        'Bearer ',
        `Bearer ${key}x`,
        `Bearer x${key}`,
      ]) {
        const response = await send(deployment, { path: '/v1/models', headers: { authorization } });
        assertError(response, 'invalid_api_key', { param: null });
      }
    },
  },
  {
    title: 'query strings, cookies and other headers do not authenticate',
    async verify(deployment) {
      const key = deployment.shared.apiKey;
      for (const path of [
        `/v1/models?api_key=${key}`,
        `/v1/models?key=${key}`,
        `/v1/models?access_token=${key}`,
      ]) {
        assertError(await send(deployment, { path }), 'invalid_api_key');
      }
      for (const headers of [
        { cookie: `api_key=${key}; authorization=Bearer ${key}` },
        { 'x-api-key': key },
        { 'api-key': key },
        { 'proxy-authorization': `Bearer ${key}` },
      ] as Record<string, string>[]) {
        assertError(await send(deployment, { path: '/v1/models', headers }), 'invalid_api_key');
      }
    },
  },
  {
    title: 'each scope grants only its endpoints; GET /v1/models requires no scope',
    async verify(deployment) {
      const chatOnly = (await deployment.shared.createKey({ scopes: ['chat'] })).apiKey;
      const usageOnly = (await deployment.shared.createKey({ scopes: ['usage:read'] })).apiKey;
      for (const apiKey of [chatOnly, usageOnly]) {
        assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
      }
      assert.equal((await chat(deployment, body(deployment), { apiKey: chatOnly })).status, 200);
      assertError(await chat(deployment, body(deployment), { apiKey: usageOnly }), 'missing_scope');
      for (const path of ['/v1/credits', '/v1/usage']) {
        assert.equal((await get(deployment, path, { apiKey: usageOnly })).status, 200);
        assertError(await get(deployment, path, { apiKey: chatOnly }), 'missing_scope');
      }
    },
  },
  {
    title: 'revocation is immediate for new requests, while a running stream finishes',
    needs: ['emulator'],
    async verify(deployment) {
      const { apiKey, keyId } = await deployment.shared.createKey();
      const response = await fetch(`${deployment.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(
          body(deployment, { stream: true, max_tokens: 60, ...directive('[[tokens:60]] [[rate:40]]') }),
        ),
      });
      assert.equal(response.status, 200);
      const reader = response.body!.getReader();
      const decoder = new TextDecoder();
      let text = decoder.decode((await reader.read()).value, { stream: true });
      await deployment.shared.revokeKey(keyId);
      const refused = await Promise.all(
        Array.from({ length: 20 }, () => get(deployment, '/v1/models', { apiKey })),
      );
      for (const one of refused) assertError(one, 'key_revoked');
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
      }
      assert.match(text, /"finish_reason":"(stop|length)"/);
      assert.ok(text.endsWith('data: [DONE]\n\n'));
      assert.doesNotMatch(text, /"error"/);
    },
  },
  {
    title: "a key's limits apply only to that key",
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { requests_per_minute: 100 } });
      const narrow = await tenant.createKey({ requests_per_minute: 1 });
      const responses = [];
      for (let index = 0; index < 3; index += 1) {
        responses.push(await chat(deployment, body(deployment), { apiKey: narrow.apiKey }));
      }
      const refused = responses.find(({ status }) => status !== 200);
      assert.ok(refused);
      assertError(refused, 'rpm_exceeded', { metadata: { limit_type: 'rpm', scope: 'key', limit: 1 } });
      assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
    },
  },
  {
    title: 'a changed restriction applies from the next request',
    async verify(deployment) {
      const { apiKey, keyId } = await deployment.shared.createKey();
      assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
      await deployment.shared.updateKey(keyId, { expires_on: day(-1) });
      assertError(await get(deployment, '/v1/models', { apiKey }), 'key_expired');
      await deployment.shared.updateKey(keyId, { expires_on: null });
      assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
    },
  },
]);
