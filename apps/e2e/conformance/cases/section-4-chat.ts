import assert from 'node:assert/strict';
import { assertError, body, casesOf, chat, directive, image, weatherTool, everyDialect } from '../framework';

interface Completion {
  id: string;
  object: string;
  created: number;
  model: string;
  system_fingerprint?: string;
  choices: {
    index: number;
    message: { role: string; content: string | null; refusal: string | null; tool_calls?: unknown[] };
    logprobs: unknown;
    finish_reason: string;
  }[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: { cached_tokens: number };
    completion_tokens_details: { reasoning_tokens: number };
    cost: number;
  };
}

/** POST /v1/chat/completions: fields and their rules, beyond the error codes. */
export const chatCases = casesOf('4', [
  {
    title: 'a completion has the OpenAI format, with its generation id and cost',
    dialects: everyDialect,
    async verify(deployment) {
      const before = Math.floor(Date.now() / 1000) - 1;
      const response = await chat(deployment, body(deployment));
      assert.equal(response.status, 200, response.text);
      assert.match(String(response.headers['content-type']), /^application\/json/);
      assert.equal(response.headers['cache-control'], 'no-store');
      assert.match(String(response.headers['x-request-id']), /^req_/);
      assert.match(String(response.headers['openai-processing-ms']), /^\d+$/);
      const completion = response.json<Completion>();
      // The provider's fingerprint, if it sends one.
      const { system_fingerprint: fingerprint, ...own } = completion;
      assert.ok(fingerprint === undefined || /^[\x20-\x7e]{1,128}$/.test(fingerprint), fingerprint);
      assert.deepEqual(Object.keys(own).sort(), ['choices', 'created', 'id', 'model', 'object', 'usage']);
      assert.match(completion.id, /^gen-/);
      assert.equal(completion.object, 'chat.completion');
      assert.ok(completion.created >= before);
      assert.equal(completion.model, deployment.model().id);
      const [choice] = completion.choices;
      assert.equal(completion.choices.length, 1);
      assert.deepEqual(Object.keys(choice ?? {}).sort(), ['finish_reason', 'index', 'logprobs', 'message']);
      assert.equal(choice?.message.role, 'assistant');
      assert.equal(choice.message.refusal, null);
      const { usage } = completion;
      assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
      assert.ok(usage.cost > 0);
      assert.ok(Number.isInteger(usage.prompt_tokens_details.cached_tokens));
      assert.ok(Number.isInteger(usage.completion_tokens_details.reasoning_tokens));
    },
  },
  {
    title: 'fields that SDKs send by default are accepted, and null means absent',
    dialects: everyDialect,
    async verify(deployment) {
      const everything = {
        temperature: 0.5,
        top_p: 1,
        stop: ['\nEND'],
        seed: 7,
        frequency_penalty: 0,
        presence_penalty: 0,
        user: 'someone',
        safety_identifier: 'someone',
        metadata: { a: 'b' },
        store: false,
        service_tier: 'auto',
        modalities: ['text'],
        verbosity: 'low',
        prompt_cache_key: 'x',
        response_format: { type: 'text' },
        tools: [],
        n: 1,
      };
      const present = await chat(deployment, body(deployment, everything));
      assert.equal(present.status, 200, present.text);
      const nulls = Object.fromEntries(Object.keys(everything).map((name) => [name, null]));
      const absent = await chat(
        deployment,
        body(deployment, { ...nulls, functions: null, function_call: null, audio: null, tool_choice: null }),
      );
      assert.equal(absent.status, 200, absent.text);
    },
  },
  {
    title: 'unsupported features are unknown parameters',
    async verify(deployment) {
      for (const name of [
        'functions',
        'function_call',
        'audio',
        'web_search_options',
        'top_k',
        'min_p',
        'models',
        'provider',
        'route',
        'plugins',
        'transforms',
        'reasoning',
        'include_reasoning',
        'usage',
        'thinking',
        'extra_body',
      ]) {
        assertError(await chat(deployment, body(deployment, { [name]: {} })), 'unknown_parameter', {
          param: name,
          messageHas: [name],
        });
      }
    },
  },
  {
    title: 'max_completion_tokens is the newer name of max_tokens; the same limit applies to both',
    async verify(deployment) {
      const same = await chat(deployment, body(deployment, { max_tokens: 9, max_completion_tokens: 9 }));
      assert.equal(same.status, 200, same.text);
      const different = body(deployment, { max_tokens: 9, max_completion_tokens: 10 });
      assertError(await chat(deployment, different), 'invalid_request');
      const tenant = await deployment.tenant({ limits: { max_output_tokens: 5 } });
      assertError(
        await chat(deployment, body(deployment, { max_tokens: undefined, max_completion_tokens: 6 }), {
          apiKey: tenant.apiKey,
        }),
        'max_tokens_exceeds_cap',
        { param: 'max_tokens', messageHas: ['5'] },
      );
    },
  },
  {
    title: 'wrong types and ranges return invalid_request with the path of the first invalid field',
    async verify(deployment) {
      for (const [overrides, param] of [
        [{ model: 7 }, 'model'],
        [{ temperature: 3 }, 'temperature'],
        [{ temperature: 'hot' }, 'temperature'],
        [{ top_p: -0.1 }, 'top_p'],
        [{ max_tokens: 0 }, 'max_tokens'],
        [{ max_tokens: 1.5 }, 'max_tokens'],
        [{ n: 0 }, 'n'],
        [{ n: 1.5 }, 'n'],
        [{ stream: 'yes' }, 'stream'],
        [{ reasoning_effort: 3 }, 'reasoning_effort'],
        [{ service_tier: 'gold' }, 'service_tier'],
        [{ modalities: ['text', 'audio'] }, 'modalities'],
        [{ messages: [{ role: 'user', content: 'x' }, 'text'] }, 'messages[1]'],
        [{ messages: [{ role: 'pirate', content: 'x' }] }, 'messages[0].role'],
        [{ messages: [{ role: 'function', name: 'f', content: 'x' }] }, 'messages[0].role'],
        [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
        [{ messages: [{ role: 'user', content: [{ type: 'sound' }] }] }, 'messages[0].content[0].type'],
        [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
        [{ metadata: [1] }, 'metadata'],
      ] as const) {
        const response = await chat(deployment, body(deployment, overrides));
        const error = assertError(response, 'invalid_request');
        assert.ok(error.param?.startsWith(param), `${JSON.stringify(overrides)}: ${error.param}`);
      }
    },
  },
  {
    title: 'images are validated: type, base64, magic bytes and dimensions',
    async verify(deployment) {
      const model = deployment.model(['vision']).id;
      for (const url of [
        'data:image/svg+xml;base64,PHN2Zy8+',
        'data:application/pdf;base64,JVBERi0=',
        'data:image/png;base64,!!!!',
        'data:image/png;base64,AAAA',
        'data:image/png,plain',
        'file:///etc/passwd',
        'nonsense',
      ]) {
        const response = await chat(deployment, body(deployment, { model, ...image(url) }));
        assertError(response, 'invalid_request', { param: 'messages[0].content[1].image_url.url' });
      }
    },
  },
  {
    title: 'tools: a call, its result, and the final response; tool_choice is passed on',
    needs: ['emulator'],
    dialects: everyDialect,
    async verify(deployment) {
      const model = deployment.model(['tools']).id;
      const response = await chat(
        deployment,
        body(deployment, { model, max_tokens: 300, tools: [weatherTool], tool_choice: 'required' }),
      );
      const { choices } = response.json<Completion>();
      const message = choices[0]?.message;
      assert.equal(choices[0]?.finish_reason, 'tool_calls');
      assert.equal(message?.content, null);
      assert.equal(message.tool_calls?.length, 1);
      const { id } = message.tool_calls[0] as { id: string };
      const final = await chat(
        deployment,
        body(deployment, {
          model,
          tools: [weatherTool],
          messages: [
            { role: 'user', content: 'Weather?' },
            message,
            { role: 'tool', tool_call_id: id, content: 'rain' },
          ],
        }),
      );
      assert.equal(final.status, 200, final.text);
      assert.equal(typeof final.json<Completion>().choices[0]?.message.content, 'string');
    },
  },
  {
    title: 'bodies may be compressed; the size limit applies to the decompressed body',
    async verify(deployment) {
      const { gzipSync, deflateSync, brotliCompressSync } = await import('node:zlib');
      const plain = Buffer.from(JSON.stringify(body(deployment)));
      for (const [encoding, compressed] of [
        ['gzip', gzipSync(plain)],
        ['deflate', deflateSync(plain)],
        ['br', brotliCompressSync(plain)],
      ] as const) {
        const response = await chat(deployment, compressed, { headers: { 'content-encoding': encoding } });
        assert.equal(response.status, 200, `${encoding}: ${response.text}`);
      }
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
      assertError(
        await chat(deployment, bomb, { headers: { 'content-encoding': 'gzip' } }),
        'request_too_large',
      );
      for (const encoding of ['zstd', 'gzip']) {
        assertError(
          await chat(deployment, plain, { headers: { 'content-encoding': encoding } }),
          'invalid_json',
        );
      }
    },
  },
  {
    title: 'a request that fails validation is not billed and leaves no hold',
    async verify(deployment) {
      const tenant = await deployment.tenant();
      const { apiKey } = tenant;
      await chat(deployment, body(deployment, { n: 2 }), { apiKey });
      await chat(deployment, body(deployment, { model: 'no/such' }), { apiKey });
      await chat(deployment, body(deployment, directive('[[fault:400]]')), { apiKey });
      const balance = await tenant.balance();
      assert.equal(Number(balance.total_usage_usd), 0);
      assert.equal(Number(balance.reserved_usd), 0);
    },
  },
]);
