import assert from 'node:assert/strict';
import {
  credits,
  nano,
  nothingReserved,
  settledGeneration,
  usageOnceAllCharged,
} from '../../src/testing/accounting';
import {
  assertError,
  body,
  casesOf,
  chat,
  directive,
  eventsOf,
  get,
  everyDialect,
  everyFormat,
} from '../framework';

let sequence = 0;
const freshKey = (name: string) => ({ 'idempotency-key': `${name}-${Date.now()}-${(sequence += 1)}` });

/** States of keys, organizations and idempotent requests, beyond their error codes. */
export const stateCases = casesOf('3', [
  {
    title: 'an idempotent request is replayed from storage: same id, billed once, marked as replayed',
    formats: everyFormat,
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const { apiKey } = tenant;
      const headers = freshKey('replay');
      const first = await chat(deployment, body(deployment), { apiKey, headers });
      assert.equal(first.status, 200, first.text);
      assert.equal(first.headers['idempotent-replayed'], undefined);
      const { id } = first.json<{ id: string }>();
      await settledGeneration(deployment.baseUrl, apiKey, id);
      const paid = await nothingReserved(deployment.baseUrl, apiKey);
      // The order of members does not matter.
      const reordered = Object.fromEntries(Object.entries(body(deployment)).reverse());
      for (const retry of [body(deployment), reordered]) {
        const replay = await chat(deployment, retry, { apiKey, headers });
        assert.equal(replay.status, 200);
        assert.equal(replay.headers['idempotent-replayed'], 'true');
        assert.equal(replay.headers['x-generation-id'], id);
        assert.deepEqual(replay.json<object>(), first.json<object>());
      }
      assert.equal(nano((await credits(deployment.baseUrl, apiKey)).total_usage), nano(paid.total_usage));
    },
  },
  {
    title: 'an idempotent response can be replayed immediately after it is received',
    formats: everyFormat,
    async verify(deployment) {
      for (const stream of [false, true]) {
        for (let round = 0; round < 5; round += 1) {
          const headers = freshKey('immediate');
          const first = await chat(deployment, body(deployment, { stream }), { headers });
          const replay = await chat(deployment, body(deployment, { stream }), { headers });
          assert.deepEqual([first.status, replay.status], [200, 200], replay.text);
          assert.equal(replay.headers['idempotent-replayed'], 'true');
        }
      }
    },
  },
  {
    title: 'an idempotent stream is replayed as a stream with the same id and content',
    dialects: everyDialect,
    async verify(deployment) {
      const headers = freshKey('stream');
      const request = body(deployment, { stream: true, stream_options: { include_usage: true } });
      const content = (events: string[]) =>
        events
          .filter((event) => event !== '[DONE]')
          .map((event) => JSON.parse(event) as { choices: { delta: { content?: string } }[] })
          .map(({ choices }) => choices[0]?.delta.content ?? '')
          .join('');
      const first = await chat(deployment, request, { headers });
      assert.equal(first.status, 200, first.text);
      await settledGeneration(
        deployment.baseUrl,
        deployment.shared.apiKey,
        String(first.headers['x-generation-id']),
      );
      const replay = await chat(deployment, request, { headers });
      assert.equal(replay.headers['idempotent-replayed'], 'true');
      assert.equal(replay.headers['x-generation-id'], first.headers['x-generation-id']);
      assert.equal(eventsOf(replay).at(-1), '[DONE]');
      assert.equal(content(eventsOf(replay)), content(eventsOf(first)));
    },
  },
  {
    title: 'a replay works with zero balance and exhausted limits',
    formats: everyFormat,
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { requests_per_minute: 1 } });
      const headers = freshKey('poor');
      const { apiKey } = tenant;
      const first = await chat(deployment, body(deployment), { apiKey, headers });
      assert.equal(first.status, 200, first.text);
      await settledGeneration(deployment.baseUrl, apiKey, first.json<{ id: string }>().id);
      for (let index = 0; index < 3; index += 1) {
        const replay = await chat(deployment, body(deployment), { apiKey, headers });
        assert.equal(replay.status, 200, replay.text);
        assert.equal(replay.headers['idempotent-replayed'], 'true');
      }
    },
  },
  {
    title: 'an Idempotency-Key is scoped to its API key: another key runs a new request',
    formats: everyFormat,
    async verify(deployment) {
      const headers = freshKey('scope');
      const other = await deployment.shared.createKey();
      const first = await chat(deployment, body(deployment), { headers });
      const second = await chat(deployment, body(deployment), { headers, apiKey: other.apiKey });
      assert.equal(second.headers['idempotent-replayed'], undefined);
      assert.notEqual(second.json<{ id: string }>().id, first.json<{ id: string }>().id);
    },
  },
  {
    title: 'a rejected or failed request releases its Idempotency-Key',
    formats: everyFormat,
    needs: ['emulator'],
    async verify(deployment) {
      const tenant = await deployment.tenant({ credit: '0.000000001' });
      const headers = freshKey('released');
      const { apiKey } = tenant;
      assertError(await chat(deployment, body(deployment), { apiKey, headers }), 'insufficient_credits');
      await tenant.addCredit('10.00');
      assert.equal((await chat(deployment, body(deployment), { apiKey, headers })).status, 200);

      const failing = freshKey('failing');
      const invalid = body(deployment, directive('[[fault:fail-first:9:500]]'));
      assertError(await chat(deployment, invalid, { apiKey, headers: failing }), 'upstream_error');
      const retried = await chat(deployment, body(deployment, directive('[[tokens:3]]')), {
        apiKey,
        headers: failing,
      });
      assert.equal(retried.status, 200, retried.text);
    },
  },
  {
    title:
      'of concurrent requests with the same Idempotency-Key, one runs and is billed; the others return idempotency_key_in_flight or a replay',
    formats: everyFormat,
    needs: ['emulator'],
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const { apiKey } = tenant;
      const headers = freshKey('parallel');
      const request = body(deployment, directive('[[delay:800]]'));
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => chat(deployment, request, { apiKey, headers })),
      );
      const ran = responses.filter((one) => one.status === 200 && !one.headers['idempotent-replayed']);
      assert.equal(ran.length, 1);
      for (const one of responses) if (one.status !== 200) assertError(one, 'idempotency_key_in_flight');
      const usage = await usageOnceAllCharged(deployment.baseUrl, apiKey);
      assert.equal(usage.totals.requests, 1);
    },
  },
  {
    title: 'an Idempotency-Key has 1 to 255 printable characters; it is ignored for GET',
    async verify(deployment) {
      for (const key of ['x'.repeat(256), ' ', 'tab\there']) {
        const response = await chat(deployment, body(deployment), { headers: { 'idempotency-key': key } });
        assertError(response, 'invalid_request', { param: 'Idempotency-Key' });
      }
      const longest = await chat(deployment, body(deployment), {
        headers: { 'idempotency-key': `${Date.now()}`.padEnd(255, 'x') },
      });
      assert.equal(longest.status, 200);
      const headers = { 'idempotency-key': 'x'.repeat(300) };
      assert.equal((await get(deployment, '/v1/models', { headers })).status, 200);
    },
  },
]);
