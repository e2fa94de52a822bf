import { serve } from './serve.mjs';
// docs:begin
import OpenAI from 'openai';

async function complete({ baseURL, apiKey, model, prompt, headers }) {
  const client = new OpenAI({ baseURL, apiKey });
  const completion = await client.chat.completions.create(
    { model, messages: [{ role: 'user', content: prompt }], max_tokens: 200 },
    { headers }, // for an Idempotency-Key
  );
  return completion.choices[0].message.content;
}

/** What a program reads from an error. */
function describe(error) {
  const { status, code, type, param, requestID, error: envelope } = error;
  const { metadata } = envelope ?? {};
  return { class: error.constructor.name, status, code, type, param, metadata, requestId: requestID };
}
// docs:end
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

async function stream({ baseURL, apiKey, model, prompt }) {
  const client = new OpenAI({ baseURL, apiKey });
  const chunks = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: prompt }],
    max_tokens: 200,
    stream: true,
  });
  let text = '';
  let finishReason;
  for await (const chunk of chunks) {
    text += chunk.choices[0].delta.content ?? '';
    finishReason = chunk.choices[0].finish_reason ?? finishReason;
  }
  return { text, finishReason };
}

async function callTool({ baseURL, apiKey, model, prompt }) {
  const client = new OpenAI({ baseURL, apiKey });
  const cities = [];
  const runner = client.chat.completions.runTools({
    model,
    messages: [{ role: 'user', content: prompt }],
    max_tokens: 200,
    tools: [
      {
        type: 'function',
        function: {
          name: 'weather',
          description: 'The weather in a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          parse: JSON.parse,
          function: ({ city }) => {
            cities.push(city);
            return '12 degrees';
          },
        },
      },
    ],
  });
  return { text: await runner.finalContent(), cities };
}

async function structured({ baseURL, apiKey, model, prompt }) {
  const client = new OpenAI({ baseURL, apiKey });
  const completion = await client.chat.completions.parse({
    model,
    messages: [{ role: 'user', content: prompt }],
    max_tokens: 200,
    response_format: zodResponseFormat(z.object({ city: z.string() }), 'place'),
  });
  return completion.choices[0].message.parsed;
}

async function streamStructured({ baseURL, apiKey, model, prompt }) {
  const stream = new OpenAI({ baseURL, apiKey }).chat.completions.stream({
    model,
    messages: [{ role: 'user', content: prompt }],
    max_tokens: 200,
    response_format: zodResponseFormat(z.object({ city: z.string() }), 'place'),
  });
  return (await stream.finalChatCompletion()).choices[0].message.parsed;
}

async function completeWithKeyOption({ baseURL, apiKey, model, prompt }) {
  const client = new OpenAI({ baseURL, apiKey });
  const messages = [{ role: 'user', content: prompt }];
  await client.chat.completions.create({ model, messages, max_tokens: 200 }, { idempotencyKey: 'once' });
}

const AGENT_CALLS = 60;

/** Many calls at once under the headers of one run. */
async function runAgent({ baseURL, apiKey, model, prompt, headers }) {
  const client = new OpenAI({ baseURL, apiKey, defaultHeaders: headers });
  const messages = [{ role: 'user', content: prompt }];
  const outcomes = await Promise.allSettled(
    Array.from({ length: AGENT_CALLS }, () =>
      client.chat.completions.create({ model, messages, max_tokens: 200 }, { maxRetries: 0 }),
    ),
  );
  const refusals = outcomes
    .filter(({ status }) => status === 'rejected')
    .map(({ reason }) => describe(reason));
  return { completed: AGENT_CALLS - refusals.length, refusals };
}

await serve(
  { complete, stream, callTool, structured, streamStructured, completeWithKeyOption, runAgent },
  describe,
);
