import assert from 'node:assert/strict';
import { nothingReserved } from '../../src/testing/accounting';
import {
  assertError,
  body,
  casesOf,
  chat,
  failingRequest,
  image,
  weatherTool,
  completionFormats,
  everyFormat,
} from '../framework';

/** Errors of the request body, one case per code. */
export const requestErrorCases = casesOf('7', [
  {
    code: 'context_length_exceeded',
    title:
      'input plus max_tokens above the context window is rejected and not billed; the message contains estimate and limit',
    formats: completionFormats,
    async verify(deployment) {
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
    title: 'a remote image URL is rejected',
    async verify(deployment) {
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
    title: 'a body that is not valid JSON is rejected',
    formats: everyFormat,
    async verify(deployment) {
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
    title: 'a body that the provider rejects returns invalid_request',
    formats: everyFormat,
    needs: ['emulator'],
    async verify(deployment) {
      assertError(await chat(deployment, failingRequest(deployment, '400')), 'invalid_request');
    },
  },
  {
    code: 'invalid_request',
    title: 'a schema with json_object, which does not enforce it, is rejected by name',
    async verify(deployment) {
      const format = { type: 'json_object', schema: { type: 'object' } };
      const { id: model } = deployment.model(['json_mode']);
      const response = await chat(deployment, body(deployment, { model, response_format: format }));
      assertError(response, 'invalid_request', {
        param: 'response_format.schema',
        messageHas: [/json_schema/],
      });
    },
  },
  {
    code: 'json_mode_no_stream',
    title: 'a JSON response format cannot be combined with streaming',
    async verify(deployment) {
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
    title: 'a JSON response format requires a model that can enforce it',
    async verify(deployment) {
      const model = deployment.model([], ['json_mode', 'structured_outputs']).id;
      const schema = { name: 'a', schema: { type: 'object' } };
      for (const format of [{ type: 'json_object' }, { type: 'json_schema', json_schema: schema }]) {
        const response = await chat(deployment, body(deployment, { model, response_format: format }));
        assertError(response, 'json_mode_not_supported', { param: 'response_format' });
      }
    },
  },
  {
    code: 'max_tokens_exceeds_cap',
    title:
      "max_tokens above the organization's limit is rejected; the message contains the limit; param is max_tokens",
    formats: completionFormats,
    async verify(deployment) {
      const tenant = await deployment.tenant({ limits: { max_output_tokens: 123 } });
      const response = await chat(deployment, body(deployment, { max_tokens: 124 }), {
        apiKey: tenant.apiKey,
      });
      assertError(response, 'max_tokens_exceeds_cap', {
        param: 'max_tokens',
        messageHas: ['123'],
        metadata: { limit: 123 },
      });
      const atLimit = await chat(deployment, body(deployment, { max_tokens: 123 }), {
        apiKey: tenant.apiKey,
      });
      assert.equal(atLimit.status, 200);
    },
  },
  {
    code: 'missing_messages',
    title: 'a body without a messages array is rejected',
    async verify(deployment) {
      for (const messages of [undefined, null, 'Hello', {}, []]) {
        assertError(await chat(deployment, body(deployment, { messages })), 'missing_messages', {
          param: 'messages',
        });
      }
    },
  },
  {
    code: 'missing_model',
    title: 'a body without a model is rejected',
    formats: everyFormat,
    async verify(deployment) {
      for (const model of [undefined, null, '']) {
        assertError(await chat(deployment, body(deployment, { model })), 'missing_model', { param: 'model' });
      }
    },
  },
  {
    code: 'n_not_allowed',
    title: 'more than one completion is disabled by default and can be enabled',
    async verify(deployment) {
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
    title: 'an unsupported reasoning effort is rejected; the message lists the supported ones',
    async verify(deployment) {
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
    title: 'tools require a model with the tools capability',
    formats: completionFormats,
    async verify(deployment) {
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
    title: 'an unknown top-level field is rejected; param names it',
    formats: everyFormat,
    async verify(deployment) {
      const response = await chat(deployment, body(deployment, { zebra: 1, aardvark: null }));
      assertError(response, 'unknown_parameter', { param: 'aardvark', messageHas: ['aardvark'] });
    },
  },
  {
    code: 'vision_not_available',
    title: 'images require a model with the vision capability',
    async verify(deployment) {
      const model = deployment.model([], ['vision']).id;
      assertError(await chat(deployment, body(deployment, { model, ...image() })), 'vision_not_available');
    },
  },
  {
    code: 'request_too_large',
    title: 'a body over the size limit is rejected',
    async verify(deployment) {
      const huge = Buffer.alloc(33 * 1024 * 1024, 0x20);
      assertError(await chat(deployment, huge), 'request_too_large', { param: null });
    },
  },
]);
