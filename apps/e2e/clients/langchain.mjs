import { serve } from './serve.mjs';
// docs:begin
import { ChatOpenAI } from '@langchain/openai';

async function complete({ baseURL, apiKey, model, prompt, headers }) {
  const chat = new ChatOpenAI({ model, apiKey, maxTokens: 200, configuration: { baseURL } });
  const message = await chat.invoke(prompt, { options: { headers } });
  return message.text;
}

/** What a program reads from an error: the openai SDK's, which a ContextOverflowError has as its cause. */
function describe(error) {
  const { status, code, type, param, requestID, error: envelope } = error.cause ?? error;
  const { metadata } = envelope ?? {};
  return {
    class: error.constructor.name,
    name: error.name,
    status,
    code,
    type,
    param,
    metadata,
    requestId: requestID,
  };
}
// docs:end
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';

async function stream({ baseURL, apiKey, model, prompt }) {
  const chat = new ChatOpenAI({ model, apiKey, maxTokens: 200, configuration: { baseURL } });
  let message;
  for await (const chunk of await chat.stream(prompt)) message = message ? message.concat(chunk) : chunk;
  return { text: message.text, finishReason: message.response_metadata.finish_reason };
}

async function callTool({ baseURL, apiKey, model, prompt }) {
  const cities = [];
  const weather = tool(
    ({ city }) => {
      cities.push(city);
      return '12 degrees';
    },
    {
      name: 'weather',
      description: 'The weather in a city',
      schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  );
  const chat = new ChatOpenAI({ model, apiKey, maxTokens: 200, configuration: { baseURL } }).bindTools([
    weather,
  ]);
  const messages = [new HumanMessage(prompt)];
  const first = await chat.invoke(messages);
  messages.push(first);
  for (const call of first.tool_calls) {
    messages.push(new ToolMessage({ content: await weather.invoke(call.args), tool_call_id: call.id }));
  }
  return { text: (await chat.invoke(messages)).text, cities };
}

async function structured({ baseURL, apiKey, model, prompt }) {
  const chat = new ChatOpenAI({ model, apiKey, maxTokens: 200, configuration: { baseURL } });
  return await chat.withStructuredOutput(z.object({ city: z.string() })).invoke(prompt);
}

async function streamStructured({ baseURL, apiKey, model, prompt }) {
  const chat = new ChatOpenAI({ model, apiKey, maxTokens: 200, configuration: { baseURL } });
  const place = z.object({ city: z.string() });
  let last;
  for await (const part of await chat.withStructuredOutput(place).stream(prompt)) last = part;
  return last;
}

await serve({ complete, stream, callTool, structured, streamStructured }, describe);
