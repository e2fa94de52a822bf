import assert from 'node:assert/strict';
import net from 'node:net';
import { assertError, body, casesOf, chat, directive, get, send } from '../framework';

/** Headers, and texts that client libraries act upon. */
export const headerCases = casesOf('11', [
  {
    line: 'every answer has its own x-request-id, and none may be stored or allows other origins',
    async prove(deployment) {
      const answers = [
        await get(deployment, '/v1/models'),
        await get(deployment, '/v1/credits'),
        await get(deployment, '/v1/usage'),
        await get(deployment, '/v1/generation?id=x'),
        await chat(deployment, body(deployment)),
        await chat(deployment, '{'),
        await send(deployment, { path: '/nothing', headers: { origin: 'https://example.com' } }),
        await send(deployment, { method: 'OPTIONS', path: '/v1/models', headers: { origin: 'https://a.b' } }),
      ];
      const ids = answers.map(({ headers }) => headers['x-request-id']);
      assert.equal(new Set(ids).size, answers.length);
      for (const { headers } of answers) {
        assert.equal(headers['cache-control'], 'no-store');
        assert.equal(headers['x-powered-by'], undefined);
        assert.equal(headers['etag'], undefined);
        assert.equal(headers['access-control-allow-origin'], undefined);
        assert.match(String(headers['openai-processing-ms']), /^\d+$/);
      }
    },
  },
  {
    line: 'a request id that the caller sends is not taken over',
    async prove(deployment) {
      const headers = { 'x-request-id': 'req_mine' };
      assert.notEqual((await get(deployment, '/v1/models', { headers })).headers['x-request-id'], 'req_mine');
    },
  },
  {
    line: 'a completion names its generation in x-generation-id, streamed or not; a refusal names none',
    async prove(deployment) {
      const whole = await chat(deployment, body(deployment));
      assert.equal(whole.headers['x-generation-id'], whole.json<{ id: string }>().id);
      const streamed = await chat(deployment, body(deployment, { stream: true }));
      assert.ok(streamed.text.includes(`"id":"${streamed.headers['x-generation-id']}"`));
      const refused = await chat(deployment, body(deployment, { zebra: 1 }));
      assert.equal(refused.headers['x-generation-id'], undefined);
    },
  },
  {
    line: 'x-ratelimit headers tell the more restrictive of key and organization, as whole numbers and durations',
    async prove(deployment) {
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
    line: 'only what is worth retrying invites a retry: the headers of each kind of error',
    needs: ['emulator'],
    async prove(deployment) {
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
    line: 'rpm and tpm refusals speak of no billing or quota, which would stop clients from retrying',
    async prove(deployment) {
      for (const limits of [{ requests_per_minute: 1 }, { tokens_per_minute: 1 }]) {
        const { apiKey } = await deployment.tenant({ limits });
        const answers = [];
        for (let index = 0; index < 3; index += 1) {
          answers.push(await chat(deployment, body(deployment), { apiKey }));
        }
        const refused = answers.find(({ status }) => status === 429);
        assert.ok(refused);
        assert.doesNotMatch(refused.json().error.message, /billing|quota/i);
        assert.equal(refused.headers['x-should-retry'], undefined);
      }
    },
  },
  {
    line: 'what is not HTTP is answered with the envelope as well',
    async prove(deployment) {
      for (const [text, status] of [
        ['GET /v1/models HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n', 400],
        [`GET /v1/models HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`, 413],
        ['POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n', 400],
      ] as const) {
        const answer = await exchange(deployment.baseUrl, text);
        assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer.slice(0, 200));
        const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { error: object };
        assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'metadata', 'type']);
      }
    },
  },
  {
    line: 'an unknown path under /v1 names the endpoint that was meant, where one is known',
    async prove(deployment) {
      const headers = { authorization: `Bearer ${deployment.shared.apiKey}` };
      const response = await send(deployment, { method: 'POST', path: '/v1/responses', headers });
      assertError(response, 'route_not_found', { messageHas: ['/v1/chat/completions'] });
    },
  },
  {
    line: 'generation_not_found says that it may not have settled yet, and to retry',
    async prove(deployment) {
      assertError(await get(deployment, '/v1/generation?id=gen-unknown'), 'generation_not_found', {
        messageHas: [/settled/, /[Rr]etry/],
      });
    },
  },
]);

/** Sends this text over a socket of its own and returns all that comes back. */
function exchange(baseUrl: string, text: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    // An address with the scheme's own port has none.
    const socket = net.connect(Number(port || 80), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.once('close', () => resolve(answer)).once('error', reject);
  });
}
