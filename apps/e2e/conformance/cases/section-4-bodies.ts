import assert from 'node:assert/strict';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { pngDataUri } from '../../src/testing/png';
import { assertError, body, casesOf, chat, image, send, type Deployment } from '../framework';

const user = (content: unknown) => [{ role: 'user', content }];

/** Bodies at and beyond the limits of size, depth, counts and types. */
export const bodyCases = casesOf('4', [
  {
    title:
      'a body of exactly the maximum size is accepted, and one byte more is rejected, with any transfer or content encoding',
    async verify(deployment) {
      const limit = await bodyLimitOf(deployment);
      const text = JSON.stringify(body(deployment));
      const largest = Buffer.alloc(limit, ' ');
      largest.write(text);
      assert.equal((await chat(deployment, largest)).status, 200);
      assert.equal(
        (await chat(deployment, largest, { headers: { 'transfer-encoding': 'chunked' } })).status,
        200,
      );
      const above = Buffer.concat([largest, Buffer.from(' ')]);
      assertError(await chat(deployment, above), 'request_too_large', { metadata: { limit } });
      assertError(
        await chat(deployment, above, { headers: { 'transfer-encoding': 'chunked' } }),
        'request_too_large',
      );
      for (const [encoding, compress] of [
        ['gzip', gzipSync],
        ['deflate', deflateSync],
        ['br', fastBrotli],
      ] as const) {
        const headers = { 'content-encoding': encoding };
        assert.equal((await chat(deployment, compress(largest), { headers })).status, 200, encoding);
        assertError(await chat(deployment, compress(above), { headers }), 'request_too_large');
      }
    },
  },
  {
    title: 'an invalid key is rejected immediately, before the body has been received',
    async verify(deployment) {
      const response = await send(deployment, {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: 'Bearer sk-gw-unknown', 'content-length': String(20 * 1024 * 1024) },
        body: '{"model":',
      });
      assertError(response, 'invalid_api_key');
    },
  },
  {
    title: 'JSON must be UTF-8, with or without a byte order mark',
    async verify(deployment) {
      const text = JSON.stringify(body(deployment));
      assert.equal((await chat(deployment, `\uFEFF${text}`)).status, 200);
      for (const bytes of [
        Buffer.from(text, 'utf16le'),
        Buffer.from(`${text.slice(0, -1)},"user":"\u00e9"}`, 'latin1'),
        Buffer.from(text.replace('Hello', '\u0000')),
        Buffer.from(`${text}${text}`),
        Buffer.from(text.replaceAll('"', "'")),
        Buffer.from(text.replace(/}$/, ',}')),
        Buffer.from(text.replace(/}$/, ',"n":NaN}')),
      ]) {
        assertError(await chat(deployment, bytes), 'invalid_json', { param: null });
      }
    },
  },
  {
    title: 'the last of duplicate members applies',
    async verify(deployment) {
      const text = JSON.stringify(body(deployment)).replace('{', '{"model":"no/such-model","max_tokens":-1,');
      assert.equal((await chat(deployment, text)).status, 200);
      const other = JSON.stringify(body(deployment)).replace(/}$/, ',"model":"no/such-model"}');
      assertError(await chat(deployment, other), 'model_not_found');
    },
  },
  {
    title: 'nesting depth is limited, above the needs of real requests',
    async verify(deployment) {
      const nested = (levels: number) =>
        `${'{"type":"object","properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`;
      const withSchema = (levels: number) =>
        JSON.stringify(
          body(deployment, {
            model: deployment.model(['tools']).id,
            tools: [{ type: 'function', function: { name: 'deep', parameters: { marker: 0 } } }],
          }),
        ).replace('{"marker":0}', nested(levels));
      assert.equal((await chat(deployment, withSchema(50))).status, 200);
      assertError(await chat(deployment, withSchema(100)), 'invalid_request');
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const bomb = `{"model":"x","messages":${open.repeat(200_000)}1${close.repeat(200_000)}}`;
        const { status } = await chat(deployment, bomb);
        assert.equal(status, 400);
      }
    },
  },
  {
    title: 'extreme numbers return errors for values out of range',
    async verify(deployment) {
      for (const [name, number] of [
        ['max_tokens', '1e308'],
        ['max_tokens', '1e999'],
        ['max_tokens', '99999999999999999999999999'],
        ['max_tokens', '-0'],
        ['seed', '1e400'],
        ['seed', '-1e400'],
        ['temperature', '1e-400000'],
        ['n', '9007199254740993'],
      ] as const) {
        const text = JSON.stringify(body(deployment, { max_tokens: undefined })).replace(
          /}$/,
          `,"${name}":${number}}`,
        );
        const response = await chat(deployment, text);
        if (name === 'temperature') assert.equal(response.status, 200);
        else if (name === 'n') assertError(response, 'n_not_allowed', { param: 'n' });
        else assertError(response, 'invalid_request', { param: name });
      }
    },
  },
  {
    title: '10,000 messages are accepted, and one more is rejected',
    async verify(deployment) {
      const model = deployment.models.find(({ context_length }) => context_length > 100_000);
      assert.ok(model, 'a model with a large context window');
      const messages = (count: number) =>
        Array.from({ length: count }, () => ({ role: 'user', content: 'a' }));
      const request = (count: number) =>
        body(deployment, { model: model.id, max_tokens: 5, messages: messages(count) });
      assert.equal((await chat(deployment, request(10_000))).status, 200);
      assertError(await chat(deployment, request(10_001)), 'invalid_request', { param: 'messages' });
    },
  },
  {
    title: 'null for a required value is rejected with its path',
    async verify(deployment) {
      for (const [messages, param] of [
        [[null], 'messages[0]'],
        [[{ role: 'user', content: 'a' }, null], 'messages[1]'],
        [[{ role: null, content: 'a' }], 'messages[0].role'],
        [[{ role: 'user', content: null }], 'messages[0].content'],
        [user([null]), 'messages[0].content[0]'],
        [user([{ type: 'text', text: null }]), 'messages[0].content[0].text'],
        [user([{ type: 'image_url', image_url: null }]), 'messages[0].content[0].image_url'],
        [[{ role: 'tool', content: 'a', tool_call_id: null }], 'messages[0].tool_call_id'],
      ] as const) {
        assertError(await chat(deployment, body(deployment, { messages })), 'invalid_request', { param });
      }
    },
  },
  {
    title: 'lone surrogates, control characters and special tokens are ordinary text',
    async verify(deployment) {
      for (const content of [
        '\\ud800',
        '\\udc00\\ud800 and',
        '\\u0000\\u0007\\u001b[31m',
        '<|endoftext|><|im_start|>system<|fim_prefix|>',
        '\\ufffe\\uffff',
        '\\u202e\\u2066',
      ]) {
        const text = JSON.stringify(body(deployment)).replace('Hello', content);
        const response = await chat(deployment, text);
        assert.equal(response.status, 200, `${content}: ${response.text}`);
      }
    },
  },
  {
    title: 'text that is slow to tokenize is counted exactly, and rejected if it is too long',
    async verify(deployment) {
      const small = deployment.model([], ['tools', 'vision', 'json_mode', 'structured_outputs', 'reasoning']);
      for (const content of [
        'a'.repeat(200_000),
        '<|endoftext|>'.repeat(20_000),
        randomText(1_000_000),
        ' '.repeat(300_000),
      ]) {
        const request = body(deployment, { model: small.id, messages: user(content) });
        const first = await chat(deployment, request);
        const error = assertError(first, 'context_length_exceeded', {
          metadata: { limit: small.context_length },
        });
        const second = await chat(deployment, request);
        assert.deepEqual(second.json().error, error, 'the count is deterministic');
      }
    },
  },
  {
    title: 'an image is identified by its first bytes and size, not by its declared type',
    async verify(deployment) {
      const model = deployment.model(['vision']).id;
      const png = pngDataUri(8, 8);
      for (const [url, isAccepted] of [
        [png, true],
        [png.replace('image/png', 'image/jpeg'), true],
        [png.replace('image/png', 'image/jpg'), true],
        [png.replace(/(.{60})/g, '$1\r\n'), true],
        [png.replace('image/png', 'text/html'), false],
        [pngDataUri(0, 8), false],
        [pngDataUri(20_000, 1), false],
        [png.slice(0, 50), false],
        ['ftp://example.com/a.png', false],
        ['javascript:alert(1)', false],
        ['', false],
      ] as const) {
        const response = await chat(deployment, body(deployment, { model, ...image(url) }));
        if (isAccepted) assert.equal(response.status, 200, response.text);
        else assertError(response, 'invalid_request', { param: 'messages[0].content[1].image_url.url' });
      }
    },
  },
]);

/** The deployment's limit, from its error. */
async function bodyLimitOf(deployment: Deployment): Promise<number> {
  const headers = { 'content-length': String(2 ** 40) };
  const error = assertError(await chat(deployment, '{', { headers }), 'request_too_large', {
    messageHas: [/\d/],
  });
  assert.ok(Number.isInteger(error.metadata.limit));
  return error.metadata.limit as number;
}

function fastBrotli(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { 0: 0, 1: 1 } });
}

/** Deterministic pseudo-random lower-case text. */
function randomText(length: number): string {
  let state = 7;
  const text = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    text[at] = 97 + ((state >>> 8) % 26);
  }
  return text.toString('latin1');
}
