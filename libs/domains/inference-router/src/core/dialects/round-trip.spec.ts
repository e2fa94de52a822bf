import fc from 'fast-check';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { fuzzRuns } from '@gateway/test-support';
import { assemble } from '../../testing/assemble';
import { asObject, parseJson, type JsonObject } from '../completion/json';
import type { EncodeCall, TargetOptions } from './dialect';
import { dialects, type DialectName } from './registry';
import { RestoredResponse } from './restore-response';

/** `npm run fuzz` makes 10,000 of each vendor. */
const RUNS = { numRuns: Math.ceil(fuzzRuns().numRuns / 10) };

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Vendor {
  readonly dialect: DialectName;
  readonly providerModel: string;
  readonly options?: Partial<TargetOptions>;
}
const vendors: Readonly<Record<string, Vendor>> = {
  openai: { dialect: 'openai', providerModel: 'emu-vision', options: { vendor: 'openai' } },
  anthropic: { dialect: 'anthropic', providerModel: 'emu-vision' },
  gemini: { dialect: 'gemini', providerModel: 'emu-vision' },
  'Claude of Bedrock': { dialect: 'converse', providerModel: 'us.anthropic.emu-vision' },
  'other models of Bedrock': { dialect: 'converse', providerModel: 'meta.emu-vision' },
};

let emulator: ModelEmulator;
beforeAll(async () => {
  emulator = await startModelEmulator();
});
afterAll(() => emulator.close());

/** Sends a request, and returns the message as a client sends it in its next request. */
async function complete({ dialect: name, providerModel, options = {} }: Vendor, body: object) {
  const dialect = dialects[name];
  const call: EncodeCall = {
    providerModel,
    stream: false,
    maxOutputTokens: 500,
    n: 1,
    exactSeed: undefined,
    signer: name,
    ownsUntagged: true,
    options: {
      host: undefined,
      maxTokensParameter: 'max_tokens',
      developerAsSystem: false,
      forwardReasoningContent: false,
      drops: [],
      reasoningBudgets: undefined,
      ...options,
    },
  };
  const bytes = Buffer.from(JSON.stringify(body));
  const encoded = await dialect.encodeRequest(bytes, call, () => Promise.resolve());
  const base = name === 'openai' ? emulator.url : new URL(emulator.url).origin;
  const response = await fetch(base + dialect.path(call), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...dialect.headers?.(call.options) },
    body: Buffer.from(encoded),
  });
  const text = await response.text();
  if (response.status !== 200)
    throw new Error(`${providerModel}: ${text}\n${Buffer.from(encoded).toString()}`);
  const read = dialect.readResponse(asObject(parseJson(text)) as JsonObject, 1);
  const { content, toolCalls } = assemble([
    new RestoredResponse(bytes, dialect.rulesOf(call)).response(read),
  ]);
  const calls = toolCalls.map(({ id, name: called, arguments: args }, at) => ({
    id: id ?? `call_${at}`,
    type: 'function',
    function: { name: called, arguments: args },
  }));
  return { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

const toolNames = ['find', 'fs.read', '1st', 'mcp/server:tool', 'n'.repeat(100)];
const ids = fc.oneof(
  fc.constantFrom('call_0', 'call_1', 'a.b', 'a_b', 'call_a|fc_b', 'functions.x:0'),
  fc.string({ minLength: 1, maxLength: 70, unit: 'binary' }),
);
const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('', ' ', 'text', '\n'));
const args = fc.oneof(
  fc.constantFrom('', ' ', '{}', '[1]', '{"a":', 'null', '{"a":"\\ud83d"}'),
  fc.json(),
  fc.dictionary(fc.string(), fc.string()).map((value) => JSON.stringify(value)),
);
const part = fc.oneof(
  texts.map((text) => ({ type: 'text', text })),
  fc.constant({ type: 'image_url', image_url: { url: PNG } }),
);
const contents = fc.oneof(texts, fc.array(part, { minLength: 1, maxLength: 3 }));

/** A turn of an agent: calls, and their results in any order. */
const loop = fc
  .record({
    calls: fc.array(fc.tuple(ids, fc.constantFrom(...toolNames), args, contents, fc.nat()), {
      minLength: 1,
      maxLength: 3,
    }),
    spoken: fc.option(texts),
    reasoning: fc.option(texts),
  })
  .map(({ calls, spoken, reasoning }) => [
    {
      role: 'assistant',
      content: spoken,
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      tool_calls: calls.map(([id, name, text]) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    },
    ...calls
      .toSorted(([, , , , a], [, , , , b]) => a - b)
      .map(([id, , , content]) => ({ role: 'tool', tool_call_id: id, content })),
  ]);
const conversation = fc
  .record({
    system: fc.array(
      texts.map((content) => ({ role: 'system', content })),
      { maxLength: 1 },
    ),
    turns: fc.array(
      fc.oneof(
        loop,
        contents.map((content) => [{ role: 'user', content }]),
        texts.map((content) => [{ role: 'assistant', content }]),
      ),
      { maxLength: 4 },
    ),
    question: contents,
    /** A compaction drops the tools, and keeps the calls. */
    tools: fc.option(fc.subarray(toolNames, { minLength: 1 })),
    choice: fc.constantFrom('auto', 'required'),
    stop: fc.constantFrom(undefined, ['\n\n'], ['never', ' ']),
  })
  .map(({ system, turns, question, tools, choice, stop }) => ({
    messages: [
      ...system,
      ...turns.flat(),
      { role: 'user', content: question },
      { role: 'user', content: 'go on' },
    ],
    ...(tools === null ? {} : { tools: tools.map(toolOf), tool_choice: choice }),
    ...(stop === undefined ? {} : { stop }),
    temperature: 0.5,
    top_p: 0.9,
  }));

function toolOf(name: string) {
  const parameters = { type: 'object', properties: { a: { type: 'string' } } };
  return { type: 'function', function: { name, parameters } };
}

describe.each(Object.entries(vendors))('%s', (_, vendor) => {
  it('accepts conversations of agents, and its message can be sent back to every vendor', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.constantFrom(...Object.values(vendors)), async (body, other) => {
        const message = await complete(vendor, body);
        for (const { function: called } of message.tool_calls ?? []) expect(toolNames).toContain(called.name);
        const results = (message.tool_calls ?? []).map(({ id }) => ({
          role: 'tool',
          tool_call_id: id,
          content: 'done',
        }));
        const next = {
          ...body,
          messages: [...body.messages, message, ...results, { role: 'user', content: 'more' }],
        };
        await complete(other, next);
      }),
      RUNS,
    );
  }, 600_000);
});
