import assert from 'node:assert/strict';
import { nothingReserved, settledGeneration } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, faulty, get, send } from '../framework';

/** Errors of the service and of its providers, and what all errors have in common. */
export const serviceErrorCases = casesOf('7', [
  {
    code: 'request_timeout',
    line: 'a model that does not answer in time after internal retries is a timeout',
    needs: ['emulator'],
    waits: true,
    async prove(deployment) {
      const tenant = await deployment.tenant();
      const response = await chat(
        deployment,
        { ...faulty(deployment, 'hang'), stream: true },
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
    line: 'a failure on the service side says nothing of its inside, and is not to be retried by itself',
    needs: ['breakage'],
    async prove(deployment) {
      const { id } = (await chat(deployment, body(deployment))).json<{ id: string }>();
      await settledGeneration(deployment.baseUrl, deployment.shared.apiKey, id);
      const response = await deployment.breakage!.withoutGenerations(() =>
        get(deployment, `/v1/generation?id=${id}`),
      );
      const error = assertError(response, 'internal_error', { param: null, metadata: {} });
      assert.doesNotMatch(error.message, /postgres|prisma|relation|table|sql/i);
      assert.equal(response.headers['x-should-retry'], 'false');
      assert.equal((await get(deployment, `/v1/generation?id=${id}`)).status, 200);
    },
  },
  {
    line: 'a database that does not answer is a lack of capacity; when it answers again, nothing is left held',
    needs: ['breakage'],
    async prove(deployment) {
      const tenant = await deployment.tenant();
      const { apiKey } = tenant;
      assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
      const response = await deployment.breakage!.withoutDatabase(() =>
        chat(deployment, body(deployment), { apiKey }),
      );
      assertError(response, 'no_capacity');
      assert.equal((await chat(deployment, body(deployment), { apiKey })).status, 200);
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
  {
    code: 'upstream_config_error',
    line: 'a wrong model mapping on the service side is our error',
    needs: ['emulator'],
    async prove(deployment) {
      for (const fault of ['401', '404']) {
        const response = await chat(deployment, faulty(deployment, fault));
        assertError(response, 'upstream_config_error', { param: null });
        assert.equal(response.headers['x-should-retry'], 'false');
      }
    },
  },
  {
    code: 'upstream_error',
    line: 'a provider that failed after internal retries is a 502',
    needs: ['emulator'],
    async prove(deployment) {
      for (const fault of ['500', 'cut-before']) {
        assertError(await chat(deployment, faulty(deployment, fault)), 'upstream_error');
      }
    },
  },
  {
    code: 'no_capacity',
    line: 'no capacity is a 503 with retry-after 10, not billed',
    needs: ['emulator'],
    async prove(deployment) {
      const tenant = await deployment.tenant();
      const response = await chat(deployment, faulty(deployment, '429'), {
        apiKey: tenant.apiKey,
      });
      assertError(response, 'no_capacity', { messageHas: ['Retry in 10 seconds', 'not billed'] });
      assert.equal(response.headers['retry-after'], '10');
      const credits = await nothingReserved(deployment.baseUrl, tenant.apiKey);
      assert.equal(credits.total_usage, 0);
    },
  },
  {
    line: 'every endpoint answers errors in the same envelope, also to what is not a request of the API',
    async prove(deployment) {
      const { baseUrl } = deployment;
      const authorization = `Bearer ${deployment.shared.apiKey}`;
      for (const [method, path] of [
        ['GET', '/'],
        ['GET', '/favicon.ico'],
        ['DELETE', '/v1/models'],
        ['PUT', '/v1/chat/completions'],
        ['OPTIONS', '/v1/chat/completions'],
        ['GET', '/v1/chat/completions'],
        ['POST', '/v1/responses'],
      ] as const) {
        assertError(await send({ baseUrl }, { method, path, headers: { authorization } }), 'route_not_found');
      }
    },
  },
  {
    line: 'the same faulty request always yields the same error',
    async prove(deployment) {
      const faulty = body(deployment, { zebra: 1, temperature: 9, model: 'no/such-model', n: 7 });
      const answers = await Promise.all(Array.from({ length: 20 }, () => chat(deployment, faulty)));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    },
  },
]);
