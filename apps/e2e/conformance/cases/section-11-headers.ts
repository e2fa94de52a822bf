import assert from 'node:assert/strict';
import net from 'node:net';
import { assertError, body, casesOf, chat, directive, get, send } from '../framework';

/** Headers, and message texts that client libraries interpret. */
export const headerCases = casesOf('11', [
  {
    title: 'every response has a unique x-request-id, is not cacheable, and allows no other origins',
    async verify(deployment) {
      const responses = [
        await get(deployment, '/v1/models'),
        await get(deployment, '/v1/credits'),
        await get(deployment, '/v1/usage'),
        await get(deployment, '/v1/generation?id=x'),
        await chat(deployment, body(deployment)),
        await chat(deployment, '{'),
        await send(deployment, { path: '/nothing', headers: { origin: 'https://example.com' } }),
        await send(deployment, { method: 'OPTIONS', path: '/v1/models', headers: { origin: 'https://a.b' } }),
      ];
      const ids = responses.map(({ headers }) => headers['x-request-id']);
      assert.equal(new Set(ids).size, responses.length);
      for (const { headers } of responses) {
        assert.equal(headers['cache-control'], 'no-store');
        assert.equal(headers['x-powered-by'], undefined);
        assert.equal(headers['etag'], undefined);
        assert.equal(headers['access-control-allow-origin'], undefined);
        assert.match(String(headers['openai-processing-ms']), /^\d+$/);
      }
    },
  },
  {
    title: "a client's request id is ignored",
    async verify(deployment) {
      const headers = { 'x-request-id': 'req_mine' };
      assert.notEqual((await get(deployment, '/v1/models', { headers })).headers['x-request-id'], 'req_mine');
    },
  },
  {
    title: 'a completion, streaming or not, returns its generation id in x-generation-id; an error does not',
    async verify(deployment) {
      const nonStreaming = await chat(deployment, body(deployment));
      assert.equal(nonStreaming.headers['x-generation-id'], nonStreaming.json<{ id: string }>().id);
      const streamed = await chat(deployment, body(deployment, { stream: true }));
      assert.ok(streamed.text.includes(`"id":"${streamed.headers['x-generation-id']}"`));
      const refused = await chat(deployment, body(deployment, { zebra: 1 }));
      assert.equal(refused.headers['x-generation-id'], undefined);
    },
  },
  {
    title:
      'x-ratelimit headers report the more restrictive limit of key and organization, as integers and durations',
    async verify(deployment) {
      const tenant = await deployment.tenant({
        limits: { requests_per_minute: 500, tokens_per_minute: 50_000 },
      });
      const { apiKey } = await tenant.createKey({ requests_per_minute: 30 });
      const { headers } = await chat(deployment, body(deployment), { apiKey });
      assert.equal(headers['x-ratelimit-limit-requests'], '30');
      assert.equal(headers['x-ratelimit-remaining-requests'], '29');
      assert.equal(headers['x-ratelimit-limit-tokens'], '50000');
      const left = Number(headers['x-ratelimit-remaining-tokens']);
      assert.ok(Number.isInteger(left) && left > 0 && left < 50_000);
      for (const what of ['requests', 'tokens']) {
        assert.match(String(headers[`x-ratelimit-reset-${what}`]), /^(\d+m)?\d+(\.\d+)?m?s$/);
      }
      const unlimited = await chat(deployment, body(deployment));
      assert.equal(unlimited.headers['x-ratelimit-limit-requests'], undefined);
    },
  },
  {
    title: 'retry headers are sent only with retryable errors',
    needs: ['emulator'],
    async verify(deployment) {
      const advice = async (fault: string) => {
        const { status, headers } = await chat(deployment, body(deployment, directive(`[[fault:${fault}]]`)));
        return [status, headers['retry-after'], headers['x-should-retry']];
      };
      assert.deepEqual(await advice('400'), [400, undefined, undefined]);
      assert.deepEqual(await advice('401'), [500, undefined, 'false']);
      assert.deepEqual(await advice('429'), [503, '10', undefined]);
      assert.deepEqual(await advice('500'), [502, undefined, undefined]);
    },
  },
  {
    title: 'rate-limit messages do not mention billing or quota, which would stop clients from retrying',
    async verify(deployment) {
      for (const limits of [{ requests_per_minute: 1 }, { tokens_per_minute: 1 }]) {
        const { apiKey } = await deployment.tenant({ limits });
        const responses = [];
        for (let index = 0; index < 3; index += 1) {
          responses.push(await chat(deployment, body(deployment), { apiKey }));
        }
        const refused = responses.find(({ status }) => status === 429);
        assert.ok(refused);
        assert.doesNotMatch(refused.json().error.message, /billing|quota/i);
        assert.equal(refused.headers['x-should-retry'], undefined);
      }
    },
  },
  {
    title: 'invalid HTTP also returns the error envelope',
    async verify(deployment) {
      for (const [text, status] of [
        ['GET /v1/models HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n', 400],
        [`GET /v1/models HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`, 413],
        ['POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n', 400],
      ] as const) {
        const response = await exchange(deployment.baseUrl, text);
        assert.ok(response.startsWith(`HTTP/1.1 ${status} `), response.slice(0, 200));
        const { error } = JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4)) as { error: object };
        assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'metadata', 'type']);
      }
    },
  },
  {
    title: 'the error for an unknown path under /v1 suggests the intended endpoint, if known',
    async verify(deployment) {
      const headers = { authorization: `Bearer ${deployment.shared.apiKey}` };
      const response = await send(deployment, { method: 'POST', path: '/v1/completions', headers });
      assertError(response, 'route_not_found', { messageHas: ['/v1/chat/completions'] });
    },
  },
  {
    title: 'generation_not_found says that the generation may not be settled yet, and to retry',
    async verify(deployment) {
      assertError(await get(deployment, '/v1/generation?id=gen-unknown'), 'generation_not_found', {
        messageHas: [/settled/, /[Rr]etry/],
      });
    },
  },
]);

/** Sends a text over a new socket and returns the complete response. */
function exchange(baseUrl: string, text: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    // A URL with the scheme's default port has an empty port.
    const socket = net.connect(Number(port || 80), hostname, () => socket.write(text));
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    socket.once('close', () => resolve(received)).once('error', reject);
  });
}
