import assert from 'node:assert/strict';
import { settledGeneration } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, get, image, weatherTool } from '../framework';

/** Top-level and nested fields. */
export const fieldCases = casesOf('4', [
  {
    title:
      'non-OpenAI fields of client libraries are rejected by name, with a hint if there is an alternative',
    async verify(deployment) {
      for (const [name, hint] of [
        ['functions', 'tools'],
        ['function_call', 'tool_choice'],
        ['reasoning', 'reasoning_effort'],
        ['include_reasoning', 'reasoning_effort'],
        ['thinking', 'reasoning_effort'],
        ['moderation', ''],
        ['top_a', ''],
        ['repetition_penalty', ''],
        ['session_id', ''],
        ['extra_body', 'top level'],
      ] as const) {
        assertError(await chat(deployment, body(deployment, { [name]: {} })), 'unknown_parameter', {
          param: name,
          messageHas: [name, hint],
        });
        const absent = await chat(deployment, body(deployment, { [name]: null }));
        assert.equal(absent.status, 200, `${name}: null is absent`);
      }
    },
  },
  {
    title: 'an unknown field is rejected even if it is null, also one named like an object internal',
    async verify(deployment) {
      const text = JSON.stringify(body(deployment));
      for (const name of ['zebra', '__proto__', 'constructor', 'toString', 'Model', 'model ', '']) {
        const withField = `${text.slice(0, -1)},${JSON.stringify(name)}:null}`;
        assertError(await chat(deployment, withField), 'unknown_parameter', { param: name });
      }
    },
  },
  {
    title: 'fields that affect the response are rejected if the model does not support them',
    async verify(deployment) {
      const model = deployment.model(
        [],
        ['tools', 'vision', 'json_mode', 'structured_outputs', 'reasoning'],
      ).id;
      for (const [fields, param] of [
        [{ logprobs: true }, 'logprobs'],
        [{ logprobs: true, top_logprobs: 2 }, 'logprobs'],
        [{ logit_bias: { '50256': -100 } }, 'logit_bias'],
      ] as const) {
        const response = await chat(deployment, body(deployment, { model, ...fields }));
        assertError(response, 'invalid_request', { param });
      }
      for (const off of [{ logprobs: false }, { top_logprobs: 0 }, { logit_bias: {} }]) {
        assert.equal((await chat(deployment, body(deployment, { model, ...off }))).status, 200);
      }
    },
  },
  {
    title: 'every model accepts fields that are only hints',
    async verify(deployment) {
      const response = await chat(
        deployment,
        body(deployment, {
          parallel_tool_calls: true,
          verbosity: 'high',
          prompt_cache_key: 'a',
          prompt_cache_retention: '24h',
          prompt_cache_options: { mode: 'explicit' },
          prediction: { type: 'content', content: 'Hello' },
          stream_options: { include_usage: true, include_obfuscation: false },
          tool_choice: 'auto',
        }),
      );
      assert.equal(response.status, 200, response.text);
    },
  },
  {
    title: 'the end user is stored with the generation; safety_identifier takes precedence over user',
    async verify(deployment) {
      const { apiKey } = deployment.shared;
      for (const [fields, expected] of [
        [{ user: 'u-1' }, 'u-1'],
        [{ safety_identifier: 's-1', user: 'u-1' }, 's-1'],
        [{}, null],
      ] as const) {
        const { id } = (await chat(deployment, body(deployment, fields))).json<{ id: string }>();
        await settledGeneration(deployment.baseUrl, apiKey, id);
        const { data } = (await get(deployment, `/v1/generation?id=${id}`)).json<{
          data: { external_user: string | null };
        }>();
        assert.equal(data.external_user, expected);
      }
    },
  },
  {
    title: "ranges are OpenAI's: bounds are accepted, values beyond them are rejected by name",
    async verify(deployment) {
      for (const [name, accepted, rejected] of [
        ['temperature', [0, 2], [-0.01, 2.01]],
        ['top_p', [0, 1], [1.01]],
        ['frequency_penalty', [-2, 2], [-2.1, 2.1]],
        ['presence_penalty', [-2, 2], ['0']],
        ['seed', [0, 2 ** 53 - 1, 2 ** 60], [0.5, 2 ** 64]],
        ['stop', ['x', [], ['a', 'b', 'c', 'd']], [[1]]],
        ['metadata', [{}, { a: 1, b: { c: [] } }, 'x'], [1, [], true]],
        ['service_tier', ['auto', 'default', 'flex', 'priority'], ['gold']],
        ['modalities', [['text']], [['audio'], [], 'text']],
        ['store', [true, false], ['yes']],
        ['n', [1], [0, -1, 1.5, '1']],
        ['max_tokens', [1], [0, -1, 0.5, '8']],
        ['stream', [false], ['false', 0]],
        ['verbosity', ['low', 'medium', 'high'], ['loud']],
      ] as const) {
        for (const value of accepted) {
          const response = await chat(deployment, body(deployment, { [name]: value }));
          assert.equal(response.status, 200, `${name} ${JSON.stringify(value)}: ${response.text}`);
        }
        for (const value of rejected) {
          const response = await chat(deployment, body(deployment, { [name]: value }));
          const { param = '' } = assertError(response, 'invalid_request');
          assert.ok(param === name || param.startsWith(`${name}[`) || param.startsWith(`${name}.`), param);
        }
      }
      const wholeFloat = JSON.stringify(body(deployment)).replace(/}$/, ',"n":1.0}');
      assert.equal((await chat(deployment, wholeFloat)).status, 200, 'n: 1.0 is one');
    },
  },
  {
    title: 'unknown fields inside messages, content parts and tools are dropped, since clients send many',
    async verify(deployment) {
      const tools = [
        {
          ...weatherTool,
          defer_loading: true,
          function: {
            ...weatherTool.function,
            strict: true,
            parameters: {
              $schema: 'http://json-schema.org/draft-07/schema#',
              ...weatherTool.function.parameters,
            },
          },
        },
      ];
      const response = await chat(
        deployment,
        body(deployment, {
          model: deployment.model(['tools']).id,
          max_tokens: 200,
          tools,
          messages: [
            { role: 'system', content: [{ type: 'text', text: 'Be brief.', citations: { enabled: true } }] },
            { role: 'developer', content: 'Be kind.' },
            { role: 'user', name: 'ann', content: 'Hello', id: 'm-1' },
            {
              role: 'assistant',
              content: 'Hi',
              refusal: null,
              annotations: [],
              reasoning_content: 'hm',
            },
            { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
          ],
        }),
      );
      assert.equal(response.status, 200, response.text);
    },
  },
  {
    title:
      'cache points are accepted on content parts, messages and tools, whether or not the model has a prompt cache',
    async verify(deployment) {
      const points = [
        { cache_control: { type: 'ephemeral' } },
        { cache_control: { type: 'ephemeral', ttl: '1h' } },
        { prompt_cache_breakpoint: { mode: 'explicit' } },
      ];
      const models = [deployment.model(['tools'], ['vision']), deployment.model(['tools', 'vision'])];
      for (const { id: model } of models) {
        for (const point of points) {
          const response = await chat(
            deployment,
            body(deployment, {
              model,
              max_tokens: 5,
              tools: [{ ...weatherTool, ...point }],
              messages: [
                { role: 'system', content: [{ type: 'text', text: 'Be brief.', ...point }] },
                { role: 'user', content: 'Hello', ...point },
              ],
            }),
          );
          assert.equal(response.status, 200, response.text);
        }
      }
    },
  },
  {
    title: 'a cache point of an unknown kind or lifetime is refused with its path',
    async verify(deployment) {
      for (const [point, member] of [
        [{ cache_control: { type: 'persistent' } }, 'cache_control.type'],
        [{ cache_control: { type: 'ephemeral', ttl: '2h' } }, 'cache_control.ttl'],
        [{ prompt_cache_breakpoint: { mode: 'implicit' } }, 'prompt_cache_breakpoint.mode'],
      ] as const) {
        const content = [{ type: 'text', text: 'Hello', ...point }];
        const response = await chat(deployment, body(deployment, { messages: [{ role: 'user', content }] }));
        assertError(response, 'invalid_request', { param: `messages[0].content[0].${member}` });
      }
    },
  },
  {
    title: 'a remote image is rejected in messages of every role, with its path',
    async verify(deployment) {
      const model = deployment.model(['vision']).id;
      const [remote] = image('https://example.com/a.png').messages as { content: unknown }[];
      for (const message of [
        { role: 'assistant', content: remote?.content },
        { role: 'tool', tool_call_id: 'call-1', content: remote?.content },
        { role: 'system', content: remote?.content },
      ]) {
        const messages = [{ role: 'user', content: 'Hello' }, message, { role: 'user', content: 'So?' }];
        const response = await chat(deployment, body(deployment, { model, messages }));
        assertError(response, 'image_url_not_supported', { param: 'messages[1].content[1].image_url.url' });
      }
    },
  },
  {
    title: 'the message of json_mode_no_stream suggests an alternative',
    async verify(deployment) {
      const fields = { stream: true, response_format: { type: 'json_object' } };
      const response = await chat(deployment, body(deployment, fields));
      assertError(response, 'json_mode_no_stream', { messageHas: [/stream/, /tool/] });
    },
  },
  {
    title: 'without max_tokens, only an input that exceeds the context window is rejected',
    async verify(deployment) {
      const model = deployment.model([], ['tools', 'vision', 'json_mode', 'structured_outputs', 'reasoning']);
      const tooLong = 'word '.repeat(model.context_length + 10);
      const request = (content: string) =>
        body(deployment, { model: model.id, max_tokens: undefined, messages: [{ role: 'user', content }] });
      assertError(await chat(deployment, request(tooLong)), 'context_length_exceeded');
      // Many short messages, because providers split long texts differently when counting tokens.
      const nearlyFull = Array.from({ length: Math.floor((model.context_length - 500) / 106) }, () => ({
        role: 'user',
        content: 'word '.repeat(100),
      }));
      const response = await chat(deployment, { ...request(''), messages: nearlyFull });
      assert.equal(response.status, 200, response.text.slice(0, 300));
    },
  },
]);
