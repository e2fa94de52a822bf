import assert from 'node:assert/strict';
import { nothingReserved, settledGeneration, usageOnceAllCharged } from '../../src/testing/accounting';
import {
  assertError,
  body,
  casesOf,
  chat,
  day,
  failingRequest,
  get,
  send,
  type PublicModel,
  everyDialect,
  everyFormat,
  otherFormats,
  publicFormats,
} from '../framework';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const DECIMAL = /^\d+(\.\d+)?$/;

/** GET /v1/models, /v1/credits, /v1/generation and /v1/usage. */
export const readEndpointCases = casesOf('4', [
  {
    title: 'GET /v1/models lists the available models with their capabilities, sorted by id',
    async verify(deployment) {
      const response = await get(deployment, '/v1/models');
      assert.equal(response.status, 200);
      const list = response.json<{ object: string; data: (PublicModel & Record<string, unknown>)[] }>();
      assert.equal(list.object, 'list');
      assert.ok(list.data.length > 0);
      const ids = list.data.map(({ id }) => id);
      assert.deepEqual(ids, [...ids].sort());
      for (const model of list.data) {
        assert.equal(model.object, 'model');
        assert.ok(Number.isInteger(model.created));
        assert.equal(typeof model.owned_by, 'string');
        assert.equal(typeof model.name, 'string');
        assert.ok(Number.isInteger(model.context_length) && model.context_length > 0);
        const hasOutput = deployment.models.some(({ id }) => id === model.id);
        assert.ok(Number.isInteger(model.max_output_tokens) && model.max_output_tokens > 0 === hasOutput);
        for (const capability of model.capabilities) {
          assert.ok(
            ['tools', 'vision', 'files', 'json_mode', 'structured_outputs', 'reasoning'].includes(capability),
            capability,
          );
        }
        assert.equal(
          model.capabilities.includes('reasoning'),
          (model.reasoning?.supported_efforts.length ?? 0) > 0,
        );
        for (const price of Object.values(model.pricing)) assert.match(price, DECIMAL);
        assert.ok(Number(model.pricing.prompt) > 0 || Number(model.pricing.completion) > 0);
      }
    },
  },
  {
    title: 'an endpoint of another format exists where the model list names it',
    async verify(deployment) {
      for (const name of otherFormats) {
        const format = publicFormats[name];
        const response = await chat({ ...deployment, format }, {});
        if (deployment.has(name)) assertError(response, 'missing_model');
        else {
          const { path } = format;
          const { error } = (await send(deployment, { method: 'POST', path })).json();
          assert.deepEqual([response.status, error.code], [404, 'route_not_found']);
        }
      }
      const named = deployment.models.flatMap(({ endpoints = [] }) => endpoints);
      assert.equal(
        named.length > 0,
        otherFormats.some((name) => deployment.has(name)),
      );
    },
  },
  {
    title: 'GET /v1/generation names the API of the request',
    formats: everyFormat,
    async verify(deployment) {
      const { baseUrl, shared, format = publicFormats.chat } = deployment;
      const { id } = (await chat(deployment, body(deployment))).json<{ id: string }>();
      const { api_type: api } = await settledGeneration(baseUrl, shared.apiKey, id);
      assert.equal(api, format.path.replace('/v1/', '').replace('chat/', ''));
    },
  },
  {
    title: 'GET /v1/models lists only the models that the key may use',
    async verify(deployment) {
      const [first] = deployment.models;
      assert.ok(first);
      const { apiKey } = await deployment.shared.createKey({ allowed_models: [first.id] });
      const list = (await get(deployment, '/v1/models', { apiKey })).json<{ data: { id: string }[] }>();
      assert.deepEqual(
        list.data.map(({ id }) => id),
        [first.id],
      );
    },
  },
  {
    title: 'GET /v1/credits shows consistent added, used, reserved and available amounts',
    dialects: everyDialect,
    async verify(deployment) {
      const tenant = await deployment.tenant({ credit: '12.34' });
      const fresh = (await get(deployment, '/v1/credits', { apiKey: tenant.apiKey })).json<object>();
      assert.deepEqual(fresh, {
        data: {
          total_credits: 12.34,
          total_usage: 0,
          balance: 12.34,
          reserved: 0,
          available: 12.34,
          currency: 'USD',
        },
      });
      assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
      const used = await nothingReserved(deployment.baseUrl, tenant.apiKey);
      assert.ok(used.total_usage > 0);
      const nano = (usd: number) => BigInt(usd.toFixed(9).replace('.', ''));
      assert.equal(nano(used.balance), nano(used.total_credits) - nano(used.total_usage));
      assert.equal(nano(used.available), nano(used.balance));
    },
  },
  {
    title: 'GET /v1/generation returns a settled generation by its completion id, with all fields',
    dialects: everyDialect,
    async verify(deployment) {
      const { apiKey } = deployment.shared;
      const response = await chat(deployment, body(deployment, { user: 'customer-7' }));
      const completion = response.json<{
        id: string;
        model: string;
        usage: { prompt_tokens: number; completion_tokens: number; cost: number };
        choices: { finish_reason: string }[];
      }>();
      assert.equal(response.headers['x-generation-id'], completion.id);
      await settledGeneration(deployment.baseUrl, apiKey, completion.id);
      const found = (await get(deployment, `/v1/generation?id=${completion.id}`)).json<{
        data: Record<string, unknown>;
      }>();
      assert.deepEqual(Object.keys(found), ['data']);
      const { created_at: createdAt, latency, generation_time: generationTime, ...rest } = found.data;
      assert.match(String(createdAt), ISO_TIME);
      assert.ok(Number.isInteger(latency) && Number(latency) >= 0);
      assert.ok(Number.isInteger(generationTime) && Number(generationTime) >= 0);
      assert.equal(rest.id, completion.id);
      assert.equal(rest.model, completion.model);
      assert.equal(rest.api_type, 'completions');
      assert.equal(rest.streamed, false);
      assert.equal(rest.cancelled, false);
      assert.equal(rest.finish_reason, completion.choices[0]?.finish_reason);
      assert.equal(rest.tokens_prompt, completion.usage.prompt_tokens);
      assert.equal(rest.tokens_completion, completion.usage.completion_tokens);
      assert.equal(rest.native_tokens_prompt, completion.usage.prompt_tokens);
      assert.equal(rest.native_tokens_completion, completion.usage.completion_tokens);
      assert.equal(rest.total_cost, completion.usage.cost);
      assert.equal(rest.usage, completion.usage.cost);
      assert.equal(rest.external_user, 'customer-7');
      assert.equal(rest.request_id, response.headers['x-request-id']);
    },
  },
  {
    title: 'GET /v1/generation and GET /v1/usage have a generation that failed before its first token',
    needs: ['emulator'],
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const { apiKey } = tenant;
      for (const stream of [false, true]) {
        const response = await chat(deployment, { ...failingRequest(deployment, '500'), stream }, { apiKey });
        assertError(response, 'upstream_error');
        const id = String(response.headers['x-generation-id']);
        await settledGeneration(deployment.baseUrl, apiKey, id);
        const { data } = (await get(deployment, `/v1/generation?id=${id}`, { apiKey })).json<{
          data: Record<string, unknown>;
        }>();
        assert.equal(data.request_id, response.headers['x-request-id']);
        assert.equal(data.error_code, 'upstream_error');
        assert.equal(data.finish_reason, 'error');
        assert.equal(data.total_cost, 0);
        assert.equal(data.tokens_completion, 0);
      }
      const usage = (await get(deployment, '/v1/usage', { apiKey })).json<{ totals: { requests: number } }>();
      assert.equal(usage.totals.requests, 2);
      const credits = await nothingReserved(deployment.baseUrl, apiKey);
      assert.equal(credits.total_usage, 0);
    },
  },
  {
    title: 'a refused request has no generation id, since it has no generation',
    async verify(deployment) {
      const { apiKey } = await deployment.tenant({ credit: '0' });
      for (const request of [
        body(deployment, { unknown: 1 }),
        body(deployment, { model: 'no/such' }),
        body(deployment),
      ]) {
        const response = await chat(deployment, request, { apiKey });
        assert.ok(response.status >= 400);
        assert.equal(response.headers['x-generation-id'], undefined);
        assert.match(String(response.headers['x-request-id']), /./);
      }
    },
  },
  {
    title: 'GET /v1/usage defaults to the last 30 UTC days by day and model',
    async verify(deployment) {
      const tenant = await deployment.tenant();
      assert.equal((await chat(deployment, body(deployment), { apiKey: tenant.apiKey })).status, 200);
      await usageOnceAllCharged(deployment.baseUrl, tenant.apiKey);
      const response = await get(deployment, '/v1/usage', { apiKey: tenant.apiKey });
      const usage = response.json<
        Record<string, unknown> & { data: Record<string, unknown>[]; totals: object }
      >();
      assert.equal(usage.object, 'list');
      assert.equal(usage.start_date, day(-29));
      assert.equal(usage.end_date, day(0));
      assert.deepEqual(usage.group_by, ['day', 'model']);
      assert.equal(usage.currency, 'USD');
      assert.equal(usage.data.length, 1);
      const sums = [
        'requests',
        'prompt_tokens',
        'completion_tokens',
        'reasoning_tokens',
        'cached_tokens',
        'cache_write_tokens',
        'total_tokens',
        'total_cost',
      ];
      assert.deepEqual(Object.keys(usage.totals).sort(), [...sums].sort());
      assert.deepEqual(Object.keys(usage.data[0] ?? {}).sort(), ['date', 'model', ...sums].sort());
    },
  },
  {
    title: 'GET /v1/usage groups by any of day, model and api_key, and filters by day and model',
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const second = await tenant.createKey();
      const [one, other] = deployment.models;
      assert.ok(one && other);
      for (const [apiKey, model] of [
        [tenant.apiKey, one.id],
        [tenant.apiKey, other.id],
        [second.apiKey, one.id],
      ]) {
        assert.equal((await chat(deployment, body(deployment, { model }), { apiKey })).status, 200);
      }
      await usageOnceAllCharged(deployment.baseUrl, tenant.apiKey);
      const rows = async (query: string) => {
        const response = await get(deployment, `/v1/usage?${query}`, { apiKey: tenant.apiKey });
        assert.equal(response.status, 200, response.text);
        return response.json<{ data: Record<string, unknown>[]; totals: { requests: number } }>();
      };
      assert.equal((await rows('group_by=day')).data.length, 1);
      assert.equal((await rows('group_by=model')).data.length, 2);
      assert.equal((await rows('group_by=api_key')).data.length, 2);
      assert.equal((await rows('group_by=day,model,api_key')).data.length, 3);
      assert.equal((await rows(`group_by=model&model=${encodeURIComponent(one.id)}`)).totals.requests, 2);
      assert.equal((await rows(`start_date=${day(-3)}&end_date=${day(-1)}`)).totals.requests, 0);
      assert.equal((await rows(`start_date=${day(0)}&end_date=${day(0)}`)).totals.requests, 3);
      assert.equal((await rows('unknown_name=1')).totals.requests, 3);
    },
  },
  {
    title: 'GET /v1/usage rejects invalid values and names the parameter',
    async verify(deployment) {
      for (const [query, param] of [
        ['start_date=yesterday', 'start_date'],
        ['end_date=2026-02-30', 'end_date'],
        [`start_date=${day(0)}&end_date=${day(-1)}`, undefined],
        [`start_date=${day(-100)}&end_date=${day(0)}`, undefined],
        ['group_by=hour', 'group_by'],
      ] as const) {
        assertError(
          await get(deployment, `/v1/usage?${query}`),
          'invalid_request',
          param === undefined ? {} : { param },
        );
      }
    },
  },
  {
    title: 'HEAD on a GET endpoint returns the same headers, without a body',
    async verify(deployment) {
      const headers = { authorization: `Bearer ${deployment.shared.apiKey}` };
      const response = await send(deployment, { method: 'HEAD', path: '/v1/models', headers });
      assert.equal(response.status, 200);
      assert.equal(response.text, '');
    },
  },
]);
