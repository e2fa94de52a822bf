import assert from 'node:assert/strict';
import { nothingReserved, settledGeneration } from '../../src/testing/accounting';
import {
  assertError,
  body,
  casesOf,
  chat,
  failingRequest,
  get,
  send,
  completionFormats,
  everyFormat,
} from '../framework';

/** Errors of the service and its providers, and properties of all errors. */
export const serviceErrorCases = casesOf('7', [
  {
    code: 'request_timeout',
    title: 'a provider that does not respond in time after internal retries returns a timeout error',
    formats: completionFormats,
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const response = await chat(
        deployment,
        { ...failingRequest(deployment, 'hang'), stream: true },
        {
          apiKey: tenant.apiKey,
        },
      );
      assertError(response, 'request_timeout');
      const credits = await nothingReserved(deployment.baseUrl, tenant.apiKey);
      assert.equal(credits.total_usage, 0);
    },
  },
  {
    code: 'internal_error',
    title: 'an internal failure reveals no internals, and SDKs must not retry it',
    needs: ['faultInjection'],
    async verify(deployment) {
      const { id } = (await chat(deployment, body(deployment))).json<{ id: string }>();
      await settledGeneration(deployment.baseUrl, deployment.shared.apiKey, id);
      const response = await deployment.faultInjection!.withoutGenerations(() =>
        get(deployment, `/v1/generation?id=${id}`),
      );
      const error = assertError(response, 'internal_error', { param: null, metadata: {} });
      assert.doesNotMatch(error.message, /postgres|prisma|relation|table|sql/i);
      assert.equal(response.headers['x-should-retry'], 'false');
      assert.equal((await get(deployment, `/v1/generation?id=${id}`)).status, 200);
    },
  },
  {
    title: 'an unresponsive database returns no_capacity; after recovery no holds are left',
    needs: ['faultInjection'],
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const { apiKey } = tenant;
      assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
      const response = await deployment.faultInjection!.withoutDatabase(() =>
        chat(deployment, body(deployment), { apiKey }),
      );
      assertError(response, 'no_capacity');
      assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
  {
    code: 'upstream_config_error',
    title: 'a wrong provider configuration returns an error of the service',
    formats: everyFormat,
    needs: ['emulator'],
    async verify(deployment) {
      for (const fault of ['401', '404']) {
        const response = await chat(deployment, failingRequest(deployment, fault));
        assertError(response, 'upstream_config_error', { param: null });
        assert.equal(response.headers['x-should-retry'], 'false');
      }
    },
  },
  {
    code: 'upstream_error',
    title: 'a provider failure after internal retries returns 502',
    formats: everyFormat,
    needs: ['emulator'],
    async verify(deployment) {
      for (const fault of ['500', 'cut-before']) {
        assertError(await chat(deployment, failingRequest(deployment, fault)), 'upstream_error');
      }
    },
  },
  {
    code: 'no_capacity',
    title: 'no capacity returns 503 with retry-after 10, and is not billed',
    formats: everyFormat,
    needs: ['emulator'],
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const response = await chat(deployment, failingRequest(deployment, '429'), {
        apiKey: tenant.apiKey,
      });
      assertError(response, 'no_capacity', { messageHas: ['Retry in 10 seconds', 'not billed'] });
      assert.equal(response.headers['retry-after'], '10');
      const credits = await nothingReserved(deployment.baseUrl, tenant.apiKey);
      assert.equal(credits.total_usage, 0);
    },
  },
  {
    title: 'every error has the same envelope, also for requests outside the API',
    async verify(deployment) {
      const { baseUrl } = deployment;
      const authorization = `Bearer ${deployment.shared.apiKey}`;
      for (const [method, path] of [
        ['GET', '/'],
        ['GET', '/favicon.ico'],
        ['DELETE', '/v1/models'],
        ['PUT', '/v1/chat/completions'],
        ['OPTIONS', '/v1/chat/completions'],
        ['GET', '/v1/chat/completions'],
      ] as const) {
        assertError(await send({ baseUrl }, { method, path, headers: { authorization } }), 'route_not_found');
      }
    },
  },
  {
    title: 'the same invalid request always returns the same error',
    async verify(deployment) {
      const invalid = body(deployment, { zebra: 1, temperature: 9, model: 'no/such-model', n: 7 });
      const responses = await Promise.all(Array.from({ length: 20 }, () => chat(deployment, invalid)));
      assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
    },
  },
]);
