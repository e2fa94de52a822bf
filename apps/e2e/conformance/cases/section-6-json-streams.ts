import assert from 'node:assert/strict';
import {
  credits,
  expectedCostNanoUsd,
  nano,
  nothingReserved,
  pricingOf,
  settledGeneration,
} from '../../src/testing/accounting';
import { WHOLE_JSON_MODEL } from '../../src/testing/dialect-models';
import { eventually } from '../../src/testing/eventually';
import {
  assertError,
  body,
  casesOf,
  chat,
  completionFormats,
  directive,
  everyDialect,
  openStreams,
  publicFormats,
  type Deployment,
  type RawResponse,
} from '../framework';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, size: { type: 'integer' } },
  required: ['city', 'size'],
  additionalProperties: false,
};

interface Requested {
  /** Its provider does not stream JSON. */
  readonly isWhole?: boolean;
  readonly text?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A stream with a JSON response format. */
function jsonStream(deployment: Deployment, { isWhole, text = '', fields }: Requested = {}) {
  return body(deployment, {
    model: isWhole ? WHOLE_JSON_MODEL : deployment.model(['structured_outputs']).id,
    max_tokens: 500,
    stream: true,
    stream_options: { include_usage: true },
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } },
    ...directive(`${text} Which city?`),
    ...fields,
  });
}

const ALLOWED = { key: { json_streaming: true } };

/** Reads a complete stream whose text is the JSON that was requested. */
function streamOf({ format = publicFormats.chat }: Deployment, response: RawResponse) {
  assert.equal(response.status, 200, response.text.slice(0, 500));
  assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8');
  const stream = format.streamOf(response);
  assert.equal(stream.error, undefined);
  assert.deepEqual(Object.keys(JSON.parse(stream.text) as object), ['city', 'size']);
  return stream;
}

/** That the organization, which made no other request, was charged what the stream says. */
async function assertCharged(deployment: Deployment, apiKey: string, response: RawResponse) {
  const { usage } = streamOf(deployment, response);
  assert.ok(usage?.cost);
  const id = String(response.headers['x-generation-id']);
  const { model, total_cost: cost } = await settledGeneration(deployment.baseUrl, apiKey, id);
  const { total_usage: charged } = await nothingReserved(deployment.baseUrl, apiKey);
  const pricing = await pricingOf(deployment.baseUrl, apiKey, model);
  assert.equal(nano(usage.cost), expectedCostNanoUsd(usage, pricing));
  assert.equal(nano(cost), nano(usage.cost));
  assert.equal(nano(charged), nano(usage.cost));
}

/** Streams with a JSON response format, which a key may allow. */
export const jsonStreamCases = casesOf('6', [
  {
    title: 'a key does not allow JSON in streams by default, and a refused request costs nothing',
    formats: completionFormats,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant();
      assertError(await chat(deployment, jsonStream(deployment), { apiKey }), 'json_mode_no_stream');
      const { total_usage: charged, reserved } = await credits(deployment.baseUrl, apiKey);
      assert.deepEqual([charged, reserved], [0, 0]);
      const whole = jsonStream(deployment, { fields: { stream: false } });
      assert.equal((await chat(deployment, whole, { apiKey })).status, 200);
    },
  },
  {
    title: 'with a key that allows it, JSON arrives in parts, and the cost is exact',
    formats: completionFormats,
    dialects: everyDialect,
    needs: ['emulator'],
    async verify(deployment) {
      const { apiKey } = await deployment.tenant(ALLOWED);
      const response = await chat(deployment, jsonStream(deployment), { apiKey });
      assert.ok(streamOf(deployment, response).parts.length > 1);
      await assertCharged(deployment, apiKey, response);
    },
  },
  {
    title: 'JSON of a provider that does not stream it arrives in one part, and the cost is exact',
    formats: completionFormats,
    needs: ['emulator', 'dialects'],
    async verify(deployment) {
      const { apiKey } = await deployment.tenant(ALLOWED);
      const response = await chat(deployment, jsonStream(deployment, { isWhole: true }), { apiKey });
      assert.equal(streamOf(deployment, response).parts.length, 1);
      await assertCharged(deployment, apiKey, response);
    },
  },
  {
    title: 'a key allows JSON in streams from the moment of its change, and no longer after another',
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const { apiKey, keyId } = tenant;
      for (const json_streaming of [true, false, true]) {
        await tenant.updateKey(keyId, { json_streaming });
        const response = await chat(deployment, jsonStream(deployment), { apiKey });
        if (json_streaming) streamOf(deployment, response);
        else assertError(response, 'json_mode_no_stream');
      }
    },
  },
  {
    title: 'a key that allows JSON in streams changes no other check',
    async verify(deployment) {
      const { apiKey } = await deployment.tenant(ALLOWED);
      const send = (fields: object) =>
        chat(deployment, jsonStream(deployment, { fields: { ...fields } }), { apiKey });
      const unable = deployment.model([], ['json_mode', 'structured_outputs']).id;
      assertError(await send({ model: unable }), 'json_mode_not_supported');
      assertError(await send({ n: 2 }), 'n_not_allowed');
      assertError(await send({ model: 'none' }), 'model_not_found');
      assertError(await send({ stream: 'yes' }), 'invalid_request', { param: 'stream' });
    },
  },
  ...[false, true].map((isWhole) => ({
    title: `a stream of JSON is stored for its Idempotency-Key, and charged once${isWhole ? ', also whole' : ''}`,
    formats: completionFormats,
    needs: isWhole ? (['emulator', 'dialects'] as const) : (['emulator'] as const),
    async verify(deployment: Deployment) {
      const { apiKey } = await deployment.tenant(ALLOWED);
      const headers = { 'idempotency-key': 'json' };
      const request = jsonStream(deployment, { isWhole });
      const first = await chat(deployment, request, { apiKey, headers });
      await settledGeneration(deployment.baseUrl, apiKey, String(first.headers['x-generation-id']));
      const second = await chat(deployment, request, { apiKey, headers });
      assert.equal(second.headers['idempotent-replayed'], 'true');
      assert.equal(streamOf(deployment, second).text, streamOf(deployment, first).text);
      await assertCharged(deployment, apiKey, first);
    },
  })),
  {
    title: 'JSON of a provider that does not stream it fails with the HTTP status of the failure, at no cost',
    formats: completionFormats,
    needs: ['emulator', 'dialects'],
    async verify(deployment) {
      const { apiKey } = await deployment.tenant(ALLOWED);
      const request = jsonStream(deployment, { isWhole: true, text: '[[fault:500]]' });
      assertError(await chat(deployment, request, { apiKey }), 'upstream_error');
      const { total_usage: charged } = await nothingReserved(deployment.baseUrl, apiKey);
      assert.equal(charged, 0);
    },
  },
  {
    title: 'a client that disconnects from streamed JSON releases its slot, and is charged what was sent',
    formats: completionFormats,
    needs: ['emulator'],
    dialects: everyDialect,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant({ ...ALLOWED, limits: { concurrency: 1 } });
      const request = jsonStream(deployment, { text: '[[rate:1]]' });
      const { responses, cancel } = await openStreams(deployment, request, [{ apiKey }]);
      assert.equal(responses[0]?.status, 200);
      await cancel();
      await assertReleased(deployment, apiKey);
    },
  },
  {
    title:
      'a client that disconnects while a provider makes JSON whole releases its slot, and pays at most its prompt',
    formats: completionFormats,
    needs: ['emulator', 'dialects'],
    async verify(deployment) {
      const { apiKey } = await deployment.tenant({ ...ALLOWED, limits: { concurrency: 1 } });
      const request = jsonStream(deployment, { isWhole: true, text: '[[delay:20000]]' });
      const client = new AbortController();
      const { path, requestOf } = deployment.format ?? publicFormats.chat;
      const sent = fetch(new URL(path, deployment.baseUrl), {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(requestOf(request)),
        signal: client.signal,
      }).catch(() => undefined);
      await eventually('the request is held', async () => {
        const { reserved } = await credits(deployment.baseUrl, apiKey);
        return reserved > 0 ? true : undefined;
      });
      client.abort();
      await sent;
      const { total_usage: charged } = await nothingReserved(deployment.baseUrl, apiKey);
      // A prompt of 200 tokens, and no output.
      assert.ok(charged <= 200 * 0.5e-6, String(charged));
      await assertReleased(deployment, apiKey);
    },
  },
]);

async function assertReleased(deployment: Deployment, apiKey: string): Promise<void> {
  await eventually('the slot is released', async () => {
    const { status } = await chat(deployment, body(deployment), { apiKey });
    return status === 200 ? true : undefined;
  });
  await nothingReserved(deployment.baseUrl, apiKey);
}
