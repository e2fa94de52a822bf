import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { assertError, body, casesOf, chat, image, send, weatherTool, everyDialect } from '../framework';

interface Completion {
  choices: { message: { content: string | null; tool_calls?: unknown[] }; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens_details: { reasoning_tokens: number } };
}

/** Features of the service. */
export const featureCases = casesOf('1', [
  {
    title: 'client libraries work with the base URL, which ends in /v1, and the key as api_key',
    dialects: everyDialect,
    async verify(deployment) {
      for (const baseURL of [deployment.baseUrl, `${deployment.baseUrl}/`]) {
        const client = new OpenAI({ baseURL, apiKey: deployment.shared.apiKey, maxRetries: 0 });
        const model = deployment.model().id;
        const messages = [{ role: 'user' as const, content: 'Hello' }];
        const completion = await client.chat.completions.create({ model, max_tokens: 8, messages });
        assert.equal(completion.choices[0]?.message.role, 'assistant');
        const stream = await client.chat.completions.create({ model, max_tokens: 8, messages, stream: true });
        let text = '';
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
        assert.ok(text.length > 0);
        assert.ok((await client.models.list()).data.some(({ id }) => id === model));
      }
    },
  },
  {
    title: 'a vision model accepts inline images, which count as input tokens',
    dialects: everyDialect,
    async verify(deployment) {
      const model = deployment.model(['vision']).id;
      const plain = await chat(deployment, body(deployment, { model }));
      const withImage = await chat(deployment, body(deployment, { model, ...image() }));
      assert.equal(withImage.status, 200, withImage.text);
      assert.ok(
        withImage.json<Completion>().usage.prompt_tokens > plain.json<Completion>().usage.prompt_tokens,
        'an image costs tokens',
      );
    },
  },
  {
    title: 'a model with tool support calls tools',
    dialects: everyDialect,
    async verify(deployment) {
      const model = deployment.model(['tools']).id;
      const response = await chat(
        deployment,
        body(deployment, { model, max_tokens: 300, tools: [weatherTool], tool_choice: 'required' }),
      );
      const [choice] = response.json<Completion>().choices;
      assert.equal(choice?.finish_reason, 'tool_calls');
      assert.ok(choice.message.tool_calls?.length);
    },
  },
  {
    title: 'a JSON response format returns JSON: any object, or one that matches the schema',
    dialects: everyDialect,
    async verify(deployment) {
      const { id: model, capabilities } = deployment.model(['structured_outputs']);
      const schema = {
        type: 'object',
        properties: { conclusion: { type: 'string' }, sure: { type: 'boolean' } },
        required: ['conclusion', 'sure'],
        additionalProperties: false,
      };
      for (const response_format of [
        ...(capabilities.includes('json_mode') ? [{ type: 'json_object' }] : []),
        { type: 'json_schema', json_schema: { name: 'opinion', strict: true, schema } },
      ]) {
        const response = await chat(
          deployment,
          body(deployment, {
            model,
            max_tokens: 400,
            response_format,
            messages: [{ role: 'user', content: 'Reply in JSON: is water wet?' }],
          }),
        );
        assert.equal(response.status, 200, response.text);
        const content = JSON.parse(response.json<Completion>().choices[0]?.message.content ?? '') as object;
        assert.equal(typeof content, 'object');
        if (response_format.type === 'json_schema') {
          assert.deepEqual(Object.keys(content).sort(), ['conclusion', 'sure']);
        }
      }
    },
  },
  {
    title: 'a reasoning model accepts each reasoning effort that it lists',
    concurrent: true,
    // Bedrock reports no reasoning tokens.
    dialects: ['anthropic', 'gemini'],
    async verify(deployment) {
      const model = deployment.model(['reasoning']);
      for (const level of model.reasoning?.supported_efforts ?? []) {
        const response = await chat(
          deployment,
          body(deployment, { model: model.id, max_tokens: 900, reasoning_effort: level }),
        );
        assert.equal(response.status, 200, response.text);
        assert.ok(response.json<Completion>().usage.completion_tokens_details.reasoning_tokens > 0, level);
      }
    },
  },
  {
    title: 'keys are managed only in the dashboard: the API has no endpoints for them',
    async verify(deployment) {
      const headers = { authorization: `Bearer ${deployment.shared.apiKey}` };
      for (const path of ['/v1/keys', '/v1/key', '/v1/api_keys', '/v1/api-keys', '/v1/organizations']) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          assertError(await send(deployment, { method, path, headers }), 'route_not_found');
        }
      }
    },
  },
]);
