import { serve } from './serve.mjs';
// docs:begin
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { generateText, RetryError } from 'ai';

function connect({ provider, baseURL, apiKey }) {
  if (provider === 'openai-compatible')
    return createOpenAICompatible({ name: 'gateway', baseURL, apiKey, supportsStructuredOutputs: true });
  if (provider === 'openrouter') return createOpenRouter({ baseURL, apiKey }).chat;
  // `.chat`, since the provider itself is for the responses API, which the gateway does not have.
  return createOpenAI({ baseURL, apiKey }).chat;
}

async function complete({ provider, baseURL, apiKey, model, prompt, headers }) {
  const gateway = connect({ provider, baseURL, apiKey });
  const { text } = await generateText({ model: gateway(model), prompt, maxOutputTokens: 200, headers });
  return text;
}

/** What a program reads from an error. */
function describe(error) {
  // After retries the error of the last call is wrapped. The whole envelope is in its body only.
  const last = RetryError.isInstance(error) ? error.lastError : error;
  // An error in the middle of a stream is the envelope's content itself, or its JSON.
  const { code, type, param, metadata } = last.responseBody ? JSON.parse(last.responseBody).error : last;
  const requestId = last.responseHeaders?.['x-request-id'];
  return {
    class: last.name,
    wrapped: last !== error,
    status: last.statusCode,
    code,
    type,
    param,
    metadata,
    requestId,
  };
}
// docs:end
import { jsonSchema, Output, stepCountIs, streamObject, streamText, tool } from 'ai';

const CITY = jsonSchema({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
});

async function stream({ provider, baseURL, apiKey, model, prompt }) {
  const gateway = connect({ provider, baseURL, apiKey });
  const errors = [];
  const result = streamText({
    model: gateway(model),
    prompt,
    maxOutputTokens: 200,
    // Without this callback, the SDK prints errors.
    onError: ({ error }) => void errors.push(error),
  });
  const parts = [];
  for await (const part of result.fullStream) parts.push(part);
  if (errors.length > 0) throw errors[0];
  return {
    text: parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join(''),
    finishReason: parts.find(({ type }) => type === 'finish')?.finishReason,
    rawFinishReason: parts.find(({ type }) => type === 'finish')?.rawFinishReason,
  };
}

async function callTool({ provider, baseURL, apiKey, model, prompt }) {
  const gateway = connect({ provider, baseURL, apiKey });
  const cities = [];
  const { text } = await generateText({
    model: gateway(model),
    prompt,
    maxOutputTokens: 200,
    stopWhen: stepCountIs(3),
    tools: {
      weather: tool({
        description: 'The weather in a city',
        inputSchema: CITY,
        execute: ({ city }) => {
          cities.push(city);
          return '12 degrees';
        },
      }),
    },
  });
  return { text, cities };
}

async function structured({ provider, baseURL, apiKey, model, prompt }) {
  const { output } = await generateText({
    model: connect({ provider, baseURL, apiKey })(model),
    prompt,
    maxOutputTokens: 200,
    output: Output.object({ schema: CITY }),
  });
  return output;
}

/** Uses `createOpenAI` without `.chat`. */
async function completeByDefault({ baseURL, apiKey, model, prompt }) {
  return (await generateText({ model: createOpenAI({ baseURL, apiKey })(model), prompt })).text;
}

async function streamStructured({ provider, baseURL, apiKey, model, prompt }) {
  const errors = [];
  const result = streamObject({
    model: connect({ provider, baseURL, apiKey })(model),
    prompt,
    schema: CITY,
    maxOutputTokens: 200,
    onError: ({ error }) => void errors.push(error),
  });
  for await (const part of result.fullStream) void part;
  if (errors.length > 0) throw errors[0];
  return await result.object;
}

await serve({ complete, stream, callTool, structured, completeByDefault, streamStructured }, describe);
