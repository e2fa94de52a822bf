import assert from 'node:assert/strict';
import { assertError, body, casesOf, get, send } from '../framework';

export const versioningCases = casesOf('9', [
  {
    title: 'every endpoint has the version in its path prefix /v1',
    async verify(deployment) {
      for (const path of ['/v1/models', '/v1/credits', '/v1/usage']) {
        assert.equal((await get(deployment, path)).status, 200, path);
      }
    },
  },
  {
    title: 'a path with a missing, duplicate or wrong prefix returns route_not_found',
    async verify(deployment) {
      for (const endpoint of ['/models', '/credits', '/generation?id=x', '/usage']) {
        for (const prefix of ['', '/v1/v1', '/v2', '/V1', '/v1/', '/v1//']) {
          assertError(await get(deployment, `${prefix}${endpoint}`), 'route_not_found', { param: null });
        }
      }
      for (const path of ['/chat/completions', '/v1/v1/chat/completions', '/v1/chat/completions/']) {
        const response = await send(deployment, {
          method: 'POST',
          path,
          headers: {
            authorization: `Bearer ${deployment.shared.apiKey}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(body(deployment)),
        });
        assertError(response, 'route_not_found');
        assert.equal(response.headers.location, undefined);
      }
    },
  },
  {
    title: 'route_not_found is returned before authentication',
    async verify(deployment) {
      assertError(await send(deployment, { path: '/v1/nothing' }), 'route_not_found');
      assertError(await send(deployment, { path: '/models' }), 'route_not_found');
    },
  },
]);
