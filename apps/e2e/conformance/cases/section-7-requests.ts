import assert from 'node:assert/strict';
import { nothingReserved } from '../../src/testing/accounting';
import { assertError, body, casesOf, chat, faulty, image, weatherTool } from '../framework';

/** Errors of the request itself, one case per code, with everything that the contract says of it. */
export const requestErrorCases = casesOf('7', [
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
    code: 'invalid_request',
    line: 'a schema beside json_object, which would not be kept, is refused by name',
    async prove(deployment) {
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
    code: 'request_too_large',
    line: 'a body over the size limit is refused',
    async prove(deployment) {
      const huge = Buffer.alloc(33 * 1024 * 1024, 0x20);
      assertError(await chat(deployment, huge), 'request_too_large', { param: null });
    },
  },
]);
