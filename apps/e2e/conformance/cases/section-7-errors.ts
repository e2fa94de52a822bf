import assert from 'node:assert/strict';
import { nothingReserved, settledGeneration } from '../../src/support/accounting';
import {
  assertError,
  body,
  casesOf,
  chat,
  day,
  directive,
  faulty,
  get,
  image,
  send,
  weatherTool,
} from '../framework';

const RETRY_SECONDS_MAX = 60;

/** One case per error code, with everything that the contract says of it. */
export const errorCases = casesOf('7', [
  {
    code: 'context_length_exceeded',
    line: 'input plus max_tokens above the context window is refused; the message carries estimate and limit; not billed',
    async prove(deployment) {
      const tenant = await deployment.tenant();
      const model = deployment.model();
      const long = 'word '.repeat(model.context_length + 1_000);
      const response = await chat(
        deployment,
        body(deployment, { messages: [{ role: 'user', content: long }], max_tokens: 5 }),
        { apiKey: tenant.apiKey },
      );
      const error = assertError(response, 'context_length_exceeded', {
        messageHas: [
          new RegExp(`^This model's maximum context length is ${model.context_length} tokens\\.`),
          'However, you requested',
        ],
        metadata: { limit: model.context_length },
      });
      const estimated = error.metadata.estimated_tokens as number;
      assert.ok(estimated > model.context_length);
      assert.ok(error.message.includes(String(estimated)));
      const credits = await nothingReserved(deployment.baseUrl, tenant.apiKey);
      assert.equal(credits.total_usage, 0);
    },
  },
  {
    code: 'image_url_not_supported',
    line: 'an image given as a remote link is refused',
    async prove(deployment) {
      for (const url of ['https://example.com/a.png', 'HTTP://example.com/a.png', '//example.com/a.png']) {
        const response = await chat(
          deployment,
          body(deployment, { model: deployment.model(['vision']).id, ...image(url) }),
        );
        assertError(response, 'image_url_not_supported', { param: 'messages[0].content[1].image_url.url' });
      }
    },
  },
  {
    code: 'invalid_json',
    line: 'a body that is not valid JSON is refused',
    async prove(deployment) {
      for (const text of [
        '',
        '{',
        '{"model": undefined}',
        '[]',
        'null',
        '"text"',
        Buffer.from([0x7b, 0xff, 0x7d]),
      ]) {
        assertError(await chat(deployment, text), 'invalid_json', { param: null });
      }
    },
  },
  {
    code: 'invalid_request',
    line: 'a body that the model rejects is refused as invalid for it',
    needs: ['emulator'],
    async prove(deployment) {
      assertError(await chat(deployment, faulty(deployment, '400')), 'invalid_request');
    },
  },
  {
    code: 'json_mode_no_stream',
    line: 'a JSON response format cannot be combined with streaming',
    async prove(deployment) {
      for (const type of ['json_object', 'json_schema']) {
        const format =
          type === 'json_object'
            ? { type }
            : { type, json_schema: { name: 'a', schema: { type: 'object' } } };
        const response = await chat(
          deployment,
          body(deployment, {
            model: deployment.model(['json_mode']).id,
            response_format: format,
            stream: true,
          }),
        );
        assertError(response, 'json_mode_no_stream', { param: 'response_format' });
      }
    },
  },
  {
    code: 'json_mode_not_supported',
    line: 'a JSON response format needs a model that can enforce it',
    async prove(deployment) {
      const model = deployment.model([], ['json_mode']).id;
      const response = await chat(
        deployment,
        body(deployment, { model, response_format: { type: 'json_object' } }),
      );
      assertError(response, 'json_mode_not_supported', { param: 'response_format' });
    },
  },
  {
    code: 'max_tokens_exceeds_cap',
    line: 'max_tokens above the organization cap is refused; the message states the cap; param is max_tokens',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { max_output_tokens: 123 } });
      const response = await chat(deployment, body(deployment, { max_tokens: 124 }), {
        apiKey: tenant.apiKey,
      });
      assertError(response, 'max_tokens_exceeds_cap', {
        param: 'max_tokens',
        messageHas: ['123'],
        metadata: { limit: 123 },
      });
      const atCap = await chat(deployment, body(deployment, { max_tokens: 123 }), { apiKey: tenant.apiKey });
      assert.equal(atCap.status, 200);
    },
  },
  {
    code: 'missing_messages',
    line: 'a body without a messages array is refused',
    async prove(deployment) {
      for (const messages of [undefined, null, 'Hello', {}, []]) {
        assertError(await chat(deployment, body(deployment, { messages })), 'missing_messages', {
          param: 'messages',
        });
      }
    },
  },
  {
    code: 'missing_model',
    line: 'a body without a model is refused',
    async prove(deployment) {
      for (const model of [undefined, null, '']) {
        assertError(await chat(deployment, body(deployment, { model })), 'missing_model', { param: 'model' });
      }
    },
  },
  {
    code: 'n_not_allowed',
    line: 'more than one completion is disabled by default and can be enabled',
    async prove(deployment) {
      assertError(await chat(deployment, body(deployment, { n: 2 })), 'n_not_allowed', { param: 'n' });
      assert.equal((await chat(deployment, body(deployment, { n: 1 }))).status, 200);
      const tenant = await deployment.tenant({ limits: { multiple_completions: true } });
      const allowed = await chat(deployment, body(deployment, { n: 2 }), { apiKey: tenant.apiKey });
      assert.equal(allowed.status, 200, allowed.text);
      assert.equal(allowed.json<{ choices: unknown[] }>().choices.length, 2);
    },
  },
  {
    code: 'reasoning_effort_not_supported',
    line: 'a level that the model does not accept is refused; the message lists the accepted ones',
    async prove(deployment) {
      const model = deployment.model(['reasoning']);
      const accepted = model.reasoning?.supported_efforts ?? [];
      assert.ok(accepted.length > 0);
      const response = await chat(
        deployment,
        body(deployment, { model: model.id, reasoning_effort: 'enormous' }),
      );
      assertError(response, 'reasoning_effort_not_supported', {
        param: 'reasoning_effort',
        messageHas: accepted,
        metadata: { accepted },
      });
      const none = deployment.model([], ['reasoning']).id;
      assertError(
        await chat(deployment, body(deployment, { model: none, reasoning_effort: accepted[0] })),
        'reasoning_effort_not_supported',
        { param: 'reasoning_effort', metadata: { accepted: [] } },
      );
    },
  },
  {
    code: 'tools_not_supported',
    line: 'tools need a model with the tools capability',
    async prove(deployment) {
      const model = deployment.model([], ['tools']).id;
      assertError(
        await chat(deployment, body(deployment, { model, tools: [weatherTool] })),
        'tools_not_supported',
        {
          param: 'tools',
        },
      );
    },
  },
  {
    code: 'unknown_parameter',
    line: 'an unknown top-level field is refused; param names it',
    async prove(deployment) {
      const response = await chat(deployment, body(deployment, { zebra: 1, aardvark: null }));
      assertError(response, 'unknown_parameter', { param: 'aardvark', messageHas: ['aardvark'] });
    },
  },
  {
    code: 'vision_not_available',
    line: 'images need a model with the vision capability',
    async prove(deployment) {
      const model = deployment.model([], ['vision']).id;
      assertError(await chat(deployment, body(deployment, { model, ...image() })), 'vision_not_available');
    },
  },
  {
    code: 'invalid_api_key',
    line: 'an unknown key is refused',
    async prove(deployment) {
      for (const apiKey of ['sk-gw-unknown', 'sk-other-format', 'x']) {
        assertError(await chat(deployment, body(deployment), { apiKey }), 'invalid_api_key', { param: null });
      }
    },
  },
  {
    code: 'ip_not_allowed',
    line: "a caller outside the key's allowlist is refused; the key stays valid",
    async prove(deployment) {
      const { createKey, updateKey } = deployment.shared;
      const { apiKey, keyId } = await createKey({ ip_allowlist: ['192.0.2.1', '2001:db8::/32'] });
      assertError(await get(deployment, '/v1/models', { apiKey }), 'ip_not_allowed');
      await updateKey(keyId, { ip_allowlist: ['127.0.0.0/8', '::1'] });
      assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
    },
  },
  {
    code: 'key_expired',
    line: 'a key past its expiry date is refused; on the day itself it works',
    async prove(deployment) {
      const past = await deployment.shared.createKey({ expires_on: day(-1) });
      assertError(await get(deployment, '/v1/models', { apiKey: past.apiKey }), 'key_expired');
      const today = await deployment.shared.createKey({ expires_on: day(0) });
      assert.equal((await get(deployment, '/v1/models', { apiKey: today.apiKey })).status, 200);
    },
  },
  {
    code: 'key_revoked',
    line: 'a revoked key is refused at once',
    async prove(deployment) {
      const { apiKey, keyId } = await deployment.shared.createKey();
      assert.equal((await get(deployment, '/v1/models', { apiKey })).status, 200);
      await deployment.shared.revokeKey(keyId);
      assertError(await get(deployment, '/v1/models', { apiKey }), 'key_revoked');
    },
  },
  {
    code: 'insufficient_credits',
    line: 'a balance that does not cover the estimate is refused; metadata carries available and estimate',
    async prove(deployment) {
      const tenant = await deployment.tenant({ credit: '0.00000001' });
      const response = await chat(deployment, body(deployment), { apiKey: tenant.apiKey });
      const error = assertError(response, 'insufficient_credits', {
        messageHas: ['max_tokens'],
        metadata: { available: 0.00000001, currency: 'USD' },
      });
      assert.ok((error.metadata.estimated_cost as number) > 0.00000001);
      assert.equal(response.headers['retry-after'], undefined);
    },
  },
  {
    code: 'missing_scope',
    line: 'a key without the scope is refused; the message names the scope',
    async prove(deployment) {
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
    line: "a model outside the key's allowed models is refused",
    async prove(deployment) {
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
    line: 'all requests of a suspended organization are refused, until it is resumed',
    async prove(deployment) {
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
    line: 'a missing, foreign or unsettled id is not found',
    async prove(deployment) {
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
    line: 'an unknown or disabled model is not found, with the same message',
    async prove(deployment) {
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
    line: 'a path that does not exist is not found, for example with a missing or doubled /v1',
    async prove(deployment) {
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
  {
    code: 'request_timeout',
    line: 'a model that does not answer in time after internal retries is a timeout',
    needs: ['emulator'],
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
    code: 'idempotency_key_in_flight',
    line: 'the same Idempotency-Key while the first attempt runs is refused with retry-after 2',
    needs: ['emulator'],
    async prove(deployment) {
      const headers = { 'idempotency-key': `in-flight-${Date.now()}` };
      const request = body(deployment, directive('[[delay:2000]]'));
      const first = chat(deployment, request, { headers });
      // The claim is taken before the provider is called; the second comes while it delays.
      await new Promise((resolve) => setTimeout(resolve, 700));
      const second = await chat(deployment, request, { headers });
      assertError(second, 'idempotency_key_in_flight');
      assert.equal(second.headers['retry-after'], '2');
      assert.equal((await first).status, 200);
    },
  },
  {
    code: 'request_too_large',
    line: 'a body over the size limit is refused',
    async prove(deployment) {
      const huge = Buffer.alloc(33 * 1024 * 1024, 0x20);
      assertError(await chat(deployment, huge), 'request_too_large', { param: null });
    },
  },
  {
    code: 'idempotency_key_reused',
    line: 'the same Idempotency-Key with a different body is refused',
    async prove(deployment) {
      const headers = { 'idempotency-key': `reused-${Date.now()}` };
      const first = await chat(deployment, body(deployment), { headers });
      assert.equal(first.status, 200);
      const second = await chat(deployment, body(deployment, { max_tokens: 17 }), { headers });
      assertError(second, 'idempotency_key_reused');
    },
  },
  {
    code: 'daily_budget_exceeded',
    line: 'a reached daily cap is refused; retry-after counts to midnight UTC; not to be retried by itself',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { daily_budget_usd: '0.000000001' } });
      const response = await chat(deployment, body(deployment), { apiKey: tenant.apiKey });
      assertError(response, 'daily_budget_exceeded', {
        metadata: { limit_type: 'daily_budget', scope: 'organization', limit: 0.000000001 },
      });
      const untilMidnight = Math.ceil((Date.parse(`${day(1)}T00:00:00Z`) - Date.now()) / 1000);
      const retryAfter = Number(response.headers['retry-after']);
      assert.ok(Math.abs(retryAfter - untilMidnight) <= 2, `${retryAfter} is not about ${untilMidnight}`);
      assert.equal(response.headers['x-should-retry'], 'false');
    },
  },
  {
    code: 'rpm_exceeded',
    line: 'too many requests in the minute are refused; retry-after is what is left of it',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { requests_per_minute: 1 } });
      const responses = [];
      // Three requests touch at most two windows, so one of them is refused at any time of the minute.
      for (let index = 0; index < 3; index += 1) {
        responses.push(await chat(deployment, body(deployment), { apiKey: tenant.apiKey }));
      }
      const refused = responses.find(({ status }) => status !== 200);
      assert.ok(refused);
      assertError(refused, 'rpm_exceeded', {
        metadata: { limit_type: 'rpm', scope: 'organization', limit: 1 },
      });
      const seconds = Number(refused.headers['retry-after']);
      assert.ok(seconds >= 1 && seconds <= RETRY_SECONDS_MAX);
      assert.ok(Number(refused.headers['retry-after-ms']) <= 59_999);
    },
  },
  {
    code: 'tpm_exceeded',
    line: 'a spent token budget is refused; retry-after is what is left of the minute',
    async prove(deployment) {
      const tenant = await deployment.tenant({ limits: { tokens_per_minute: 10 } });
      const responses = [];
      for (let index = 0; index < 3; index += 1) {
        responses.push(await chat(deployment, body(deployment), { apiKey: tenant.apiKey }));
      }
      // An empty window admits a request above its cap; the next one finds it spent.
      assert.equal(responses[0]?.status, 200);
      const refused = responses.find(({ status }) => status !== 200);
      assert.ok(refused);
      assertError(refused, 'tpm_exceeded', {
        metadata: { limit_type: 'tpm', scope: 'organization', limit: 10 },
      });
      const seconds = Number(refused.headers['retry-after']);
      assert.ok(seconds >= 1 && seconds <= RETRY_SECONDS_MAX);
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
      assertError(response, 'no_capacity');
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
