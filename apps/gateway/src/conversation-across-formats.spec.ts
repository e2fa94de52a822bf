import fc from 'fast-check';
import { capabilities } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import {
  agentRequests,
  createVendorCalls,
  vendors,
  type CallVendor,
  type Vendor,
} from '@gateway/inference-router/testing';
import {
  responseFormats,
  validateChatRequest,
  type ChatFormatName,
  type JsonObject,
  type JsonValue,
  type TokenCounter,
} from '@gateway/public-api';
import { fuzzRuns } from '@gateway/test-support';

/** A tenth of the usual: each conversation has six requests. */
const RUNS = { numRuns: Math.ceil(fuzzRuns().numRuns / 10) };
const MODEL = 'acme/able';
const PRICE = 1n;
const model = {
  id: MODEL,
  disabled: false,
  contextLength: 1_000_000,
  maxOutputTokens: 4_096,
  capabilities,
  reasoningEfforts: ['low', 'medium', 'high'],
  prices: {
    inputNanoUsdPerMillion: PRICE,
    cachedInputNanoUsdPerMillion: PRICE,
    cacheWriteNanoUsdPerMillion: PRICE,
    cacheWrite1hNanoUsdPerMillion: PRICE,
    outputNanoUsdPerMillion: PRICE,
    reasoningNanoUsdPerMillion: PRICE,
    imageNanoUsdPerMillion: PRICE,
    tiers: [],
  },
  writesCacheImplicitly: false,
  tokenCounting: {
    encoding: 'o200k_base',
    factor: 1,
    imageFormula: 'constant',
    imageTokens: 100,
    pageTokens: 1_500,
  },
  extraParameters: [],
  forwardReasoningContent: true,
  targetPlaces: [{ provider: 'acme' }],
};
const tokenCounter: TokenCounter = {
  count: (text) => text.length,
  countSize: ({ bytes }) => bytes,
};
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, cost: 0.001 };

/** A part of a conversation that every format can write. */
type Turn =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: JsonObject }
  | { readonly kind: 'result'; readonly id: string; readonly text: string };

interface Tool {
  readonly name: string;
  readonly parameters: JsonObject;
}

/** How a client of a format writes a conversation, and reads a response back. */
interface Client {
  readonly write: (turns: readonly Turn[], tools: readonly Tool[]) => JsonObject;
  /** Repeats the response of the model unchanged. */
  readonly append: (body: JsonObject, response: JsonObject) => JsonObject;
  readonly read: (response: JsonObject) => readonly Turn[];
}

const list = (value: JsonValue | undefined) => (value ?? []) as JsonObject[];
const objectOf = (text: string): JsonObject => {
  const value: unknown = JSON.parse(text === '' ? '{}' : text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
};

const isOfModel = ({ kind }: Turn) => kind === 'text' || kind === 'call';

/** Consecutive turns of the model, and of the client. */
function grouped(turns: readonly Turn[]): readonly (readonly Turn[])[] {
  const groups: Turn[][] = [];
  for (const turn of turns) {
    const last = groups.at(-1);
    if (last && isOfModel(last[0]!) === isOfModel(turn)) last.push(turn);
    else groups.push([turn]);
  }
  return groups;
}

const chat: Client = {
  write: (turns, tools) => ({
    messages: grouped(turns).flatMap((group): readonly JsonObject[] => {
      if (!isOfModel(group[0]!))
        return group.map((turn): JsonObject =>
          turn.kind === 'result'
            ? { role: 'tool', tool_call_id: turn.id, content: turn.text }
            : { role: 'user', content: (turn as { text: string }).text },
        );
      const calls = group.flatMap((turn) => {
        if (turn.kind !== 'call') return [];
        const called = { name: turn.name, arguments: JSON.stringify(turn.input) };
        return [{ id: turn.id, type: 'function', function: called }];
      });
      const content = group.map((turn) => (turn.kind === 'text' ? turn.text : '')).join('');
      return [{ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
    }),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })) }),
  }),
  append: (body, response) => ({
    ...body,
    messages: [
      ...list(body['messages']),
      (list(response['choices'])[0] as JsonObject)['message'] as JsonObject,
    ],
  }),
  read: (response) => {
    const message = (list(response['choices'])[0] as JsonObject)['message'] as JsonObject;
    const calls = list(message['tool_calls']).map(({ id, function: called }): Turn => {
      const { name, arguments: text } = called as { name: string; arguments: string };
      return { kind: 'call', id: id as string, name, input: objectOf(text) };
    });
    const { content } = message;
    return [...(content ? [{ kind: 'text', text: content as string } as const] : []), ...calls];
  },
};

const messages: Client = {
  write: (turns, tools) => ({
    max_tokens: 3_000,
    messages: grouped(turns).map((group) => ({
      role: isOfModel(group[0]!) ? 'assistant' : 'user',
      content: group.map((turn): JsonObject => {
        switch (turn.kind) {
          case 'call':
            return { type: 'tool_use', id: turn.id, name: turn.name, input: turn.input };
          case 'result':
            return { type: 'tool_result', tool_use_id: turn.id, content: turn.text };
          default:
            return { type: 'text', text: turn.text };
        }
      }),
    })),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ name, parameters }) => ({ name, input_schema: parameters })) }),
  }),
  append: (body, { content = [] }) => ({
    ...body,
    messages: [...list(body['messages']), { role: 'assistant', content }],
  }),
  read: ({ content }) =>
    list(content).flatMap(({ type, text, id, name, input }): readonly Turn[] => {
      if (type === 'text') return [{ kind: 'text', text: text as string }];
      if (type !== 'tool_use') return [];
      return [{ kind: 'call', id: id as string, name: name as string, input: input as JsonObject }];
    }),
};

const responses: Client = {
  write: (turns, tools) => ({
    input: turns.map((turn): JsonObject => {
      switch (turn.kind) {
        case 'user':
          return { role: 'user', content: turn.text };
        case 'text':
          return { role: 'assistant', content: [{ type: 'output_text', text: turn.text }] };
        case 'call': {
          const { id, name, input } = turn;
          return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) };
        }
        case 'result':
          return { type: 'function_call_output', call_id: turn.id, output: turn.text };
      }
    }),
    include: ['reasoning.encrypted_content'],
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', ...tool })) }),
  }),
  append: (body, { output }) => ({ ...body, input: [...list(body['input']), ...list(output)] }),
  read: ({ output }) =>
    list(output).flatMap((item): readonly Turn[] => {
      if (item['type'] === 'message')
        return list(item['content']).map(({ text }) => ({ kind: 'text', text: (text ?? '') as string }));
      if (item['type'] !== 'function_call') return [];
      const { call_id: id, name, arguments: text } = item as Record<string, string>;
      return [{ kind: 'call', id: id!, name: name!, input: objectOf(text!) }];
    }),
};

const clients: Readonly<Record<ChatFormatName, Client>> = { chat, messages, responses };

/** What an agent's request is in every format. */
function turnsOf(body: { readonly messages: readonly object[] }): readonly Turn[] {
  const textOf = (content: unknown): string =>
    typeof content === 'string'
      ? content
      : ((content ?? []) as JsonObject[]).map(({ text }) => (text ?? '') as string).join('');
  return (body.messages as JsonObject[]).flatMap((message): readonly Turn[] => {
    const text = textOf(message['content']);
    switch (message['role']) {
      case 'tool':
        return [{ kind: 'result', id: message['tool_call_id'] as string, text }];
      case 'assistant':
        return [
          ...(text === '' ? [] : [{ kind: 'text', text } as const]),
          ...list(message['tool_calls']).map(({ id, function: called }): Turn => {
            const { name } = called as { name: string };
            return { kind: 'call', id: id as string, name, input: { q: 1 } };
          }),
        ];
      default:
        return text === '' ? [] : [{ kind: 'user', text }];
    }
  });
}

let callVendor: CallVendor;
beforeAll(async () => {
  callVendor = await createVendorCalls();
});

/** Sends a request as the gateway does. @returns the response as its client gets it. */
async function send(
  format: ChatFormatName,
  body: JsonObject,
  vendor: Vendor,
  stream: boolean,
): Promise<JsonObject> {
  const request = { model: MODEL, ...body };
  const valid = await validateChatRequest(request, {
    policy: { allowedModels: [], multipleCompletions: false, jsonStreaming: false },
    findModel: () => model,
    tokenCounter,
    format,
    dropsHostedTools: false,
  });
  if (isRefusal(valid))
    throw new Error(`${valid.message} (${String(valid.param)})\n${JSON.stringify(request)}`);
  const { completion, chunks } = await callVendor(vendor, stream, valid.bodyJson);
  const context = {
    generationId: 'gen-1',
    createdUnixS: 1,
    modelId: MODEL,
    estimatedInputTokens: 9,
    n: 1,
    includeUsage: false,
    requested: valid.response ?? {},
  };
  const whole = JSON.parse(
    responseFormats[format]
      .response(Buffer.from(JSON.stringify({ ...completion, usage: USAGE })), context)
      .toString(),
  ) as JsonObject;
  if (stream && format !== 'chat') {
    const renderer = responseFormats[format].openStream(context);
    const usage = `data: ${JSON.stringify({ id: 'gen-1', choices: [], usage: USAGE })}\n\n`;
    const events = renderer.push(Buffer.from(chunks + usage)).toString() + renderer.end();
    expect(events).toMatch(
      format === 'messages' ? /message_stop"}\n\n$/ : /event: response\.(completed|incomplete)/,
    );
  }
  return whole;
}

const legs = fc.record({
  format: fc.constantFrom<ChatFormatName>('chat', 'messages', 'responses'),
  vendor: fc.constantFrom(...Object.values(vendors)),
  stream: fc.boolean(),
});

it('starts a conversation in one format, continues it in another, and ends it in a third', async () => {
  await fc.assert(
    fc.asyncProperty(agentRequests, fc.array(legs, { minLength: 3, maxLength: 3 }), async (agent, path) => {
      let turns = turnsOf(agent);
      const tools = list(('tools' in agent ? agent.tools : []) as unknown as JsonValue).map(
        (tool) => tool['function'] as unknown as Tool,
      );
      for (const { format, vendor, stream } of path) {
        const client = clients[format];
        const body = client.write(turns, tools);
        const response = await send(format, body, vendor, stream);
        const spoken = client.read(response);
        const results = spoken.flatMap((turn): readonly Turn[] =>
          turn.kind === 'call' ? [{ kind: 'result', id: turn.id, text: 'done' }] : [],
        );
        // The next request of a tool loop needs the signed reasoning of this one.
        const next = results.length > 0 ? results : [{ kind: 'user', text: 'more [[tokens:4]]' } as const];
        // The same client repeats the response as it is.
        const { messages: more, input } = client.write(next, []);
        const again = client.append(body, response);
        const name = format === 'responses' ? 'input' : 'messages';
        await send(
          format,
          { ...again, [name]: [...list(again[name]), ...list(more ?? input)] },
          vendor,
          stream,
        );
        turns = [...turns, ...spoken, ...next];
      }
    }),
    RUNS,
  );
}, 3_600_000);
