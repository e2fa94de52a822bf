import { serve } from './serve.mjs';
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents';
import { OpenAI } from 'openai';
import { z } from 'zod';

setTracingDisabled(true);

function agent({ baseURL, apiKey, model }, options = {}) {
  const client = new OpenAI({ baseURL, apiKey });
  return new Agent({ name: 'guide', model: new OpenAIChatCompletionsModel(client, model), ...options });
}

async function complete(options) {
  return (await run(agent(options), options.prompt)).finalOutput;
}

async function stream(options) {
  const result = await run(agent(options), options.prompt, { stream: true });
  let text = '';
  for await (const chunk of result.toTextStream()) text += chunk;
  await result.completed;
  return { text };
}

async function callTool(options) {
  const cities = [];
  const weather = tool({
    name: 'weather',
    description: 'The weather in a city',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => {
      cities.push(city);
      return '12 degrees';
    },
  });
  return { text: (await run(agent(options, { tools: [weather] }), options.prompt)).finalOutput, cities };
}

async function structured(options) {
  return (await run(agent(options, { outputType: z.object({ city: z.string() }) }), options.prompt))
    .finalOutput;
}

async function streamStructured(options) {
  const place = agent(options, { outputType: z.object({ city: z.string() }) });
  const result = await run(place, options.prompt, { stream: true });
  await result.completed;
  return result.finalOutput;
}

await serve({ complete, stream, callTool, structured, streamStructured });
