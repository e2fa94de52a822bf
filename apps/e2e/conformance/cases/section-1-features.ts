import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { assertError, body, casesOf, chat, image, send, weatherTool } from '../framework';

interface Completion {
  choices: { message: { content: string | null; tool_calls?: unknown[] }; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens_details: { reasoning_tokens: number } };
}

/** What inference offers, and where the service ends. */
export const featureCases = casesOf('1', [
  {
    line: 'client libraries are pointed at the base URL, which ends in /v1, with the key as their api_key',
    async prove(deployment) {
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
    line: 'a model with vision reads inlined images; they count as input',
    async prove(deployment) {
      const model = deployment.model(['vision']).id;
      const plain = await chat(deployment, body(deployment, { model }));
      const seen = await chat(deployment, body(deployment, { model, ...image() }));
      assert.equal(seen.status, 200, seen.text);
      assert.ok(
        seen.json<Completion>().usage.prompt_tokens > plain.json<Completion>().usage.prompt_tokens,
        'an image costs tokens',
      );
    },
  },
  {
    line: 'a model with tools calls them',
    async prove(deployment) {
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
    line: 'a JSON response format gives JSON: any object, or one that fits the schema',
    async prove(deployment) {
      const model = deployment.model(['json_mode']).id;
      const schema = {
        type: 'object',
        properties: { answer: { type: 'string' }, sure: { type: 'boolean' } },
        required: ['answer', 'sure'],
        additionalProperties: false,
      };
      for (const response_format of [
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
      ]) {
        const response = await chat(
          deployment,
          body(deployment, {
            model,
            max_tokens: 400,
            response_format,
            messages: [{ role: 'user', content: 'Answer in JSON: is water wet?' }],
          }),
        );
        assert.equal(response.status, 200, response.text);
        const answer = JSON.parse(response.json<Completion>().choices[0]?.message.content ?? '') as object;
        assert.equal(typeof answer, 'object');
        if (response_format.type === 'json_schema') {
          assert.deepEqual(Object.keys(answer).sort(), ['answer', 'sure']);
        }
      }
    },
  },
  {
    line: 'a model that reasons takes each of the levels that it lists',
    waits: true,
    async prove(deployment) {
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
    line: 'keys are managed in the dashboard only: the API has no endpoints for it',
    async prove(deployment) {
      const headers = { authorization: `Bearer ${deployment.shared.apiKey}` };
      for (const path of ['/v1/keys', '/v1/key', '/v1/api_keys', '/v1/api-keys', '/v1/organizations']) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          assertError(await send(deployment, { method, path, headers }), 'route_not_found');
        }
      }
    },
  },
]);
