import { assemble } from '../../../testing/assemble';
import { asObject, type JsonObject } from '../../completion/json';
import { readResponse } from './read-response';
import { readUsage } from './read-usage';
import { converse } from '.';

function response(content: unknown, more: object = {}): JsonObject {
  return (
    asObject({
      output: { message: { role: 'assistant', content } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      ...more,
    }) ?? {}
  );
}

describe('a response of Converse', () => {
  it('has text, reasoning, tool calls, the stop reason and the usage', () => {
    const read = readResponse(
      response(
        [
          { reasoningContent: { reasoningText: { text: 'Think', signature: 'c2ln' } } },
          { reasoningContent: { redactedContent: 'ZW5j' } },
          { reasoningContent: { reasoningText: { text: ' unsigned' } } },
          { text: 'Hel' },
          { citationsContent: { content: [] } },
          { text: 'lo' },
          { toolUse: { toolUseId: 'a', name: 'weather', input: { city: 'Bonn' } } },
          { toolUse: { toolUseId: 'b', name: 'now', input: {} } },
          { toolUse: { toolUseId: 's', name: 'nova_grounding', input: {}, type: 'server_tool_use' } },
        ],
        { stopReason: 'tool_use' },
      ),
    );
    expect(assemble([read])).toEqual({
      content: 'Hello',
      reasoning: 'Think unsigned',
      details: [
        { type: 'reasoning.text', index: 0, text: 'Think', signature: 'c2ln' },
        { type: 'reasoning.encrypted', index: 1, data: 'ZW5j' },
      ],
      toolCalls: [
        { id: 'a', name: 'weather', arguments: '{"city":"Bonn"}' },
        { id: 'b', name: 'now', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: expect.objectContaining({ promptTokens: 1, completionTokens: 2 }),
      done: false,
    });
  });

  it('may be empty, and lack its usage', () => {
    expect(readResponse(response([], { usage: undefined }))).toEqual({
      choices: [
        expect.objectContaining({ content: null, reasoning: null, toolCalls: [], finishReason: 'stop' }),
      ],
      usage: undefined,
    });
  });

  it.each([{}, { output: {} }, { output: { message: null } }])('has no completion: %j', (body) => {
    expect(readResponse(body)).toEqual({ choices: [], usage: undefined });
  });

  it('may be an error in spite of its status', () => {
    expect(readResponse({ __type: 'ThrottlingException', message: 'Slow down' })).toMatchObject({
      choices: [],
      error: { type: 'ThrottlingException', message: 'Slow down' },
    });
  });

  it.each<[string, unknown, object]>([
    ['content that is a text', 'Hello', {}],
    ['a block that is null', [null], {}],
    ['a text that is a number', [{ text: 7 }], {}],
    ['a tool without a name', [{ toolUse: { toolUseId: 'a' } }], {}],
    ['redacted content that is an object', [{ reasoningContent: { redactedContent: {} } }], {}],
    ['a malformed output', [{ text: 'x' }], { stopReason: 'malformed_model_output' }],
    ['a malformed tool call', [], { stopReason: 'malformed_tool_use' }],
    ['no stop reason', [{ text: 'x' }], { stopReason: undefined }],
    ['too many tool calls', Array.from({ length: 129 }, () => ({ toolUse: { name: 'x' } })), {}],
  ])('fails with %s', (_case, content, more) => {
    expect(() => readResponse(response(content, more))).toThrow(expect.objectContaining({ kind: 'failed' }));
  });
});

describe('the usage of Converse', () => {
  it('adds cached and written tokens to the prompt, and divides written ones by lifetime', () => {
    expect(
      readUsage({
        inputTokens: 13,
        outputTokens: 5,
        totalTokens: 1_818,
        cacheReadInputTokens: 1_000,
        cacheWriteInputTokens: 800,
        cacheDetails: [
          { ttl: '1h', inputTokens: 300 },
          { ttl: '5m', inputTokens: 500 },
        ],
      }),
    ).toEqual({
      promptTokens: 1_813,
      cachedTokens: 1_000,
      cacheWriteTokens: 500,
      cacheWrite1hTokens: 300,
      imageTokens: undefined,
      completionTokens: 5,
      reasoningTokens: undefined,
    });
  });

  it.each([
    [undefined],
    [[]],
    ['x'],
    [[null, { ttl: '5m', inputTokens: 800 }]],
    [[{ ttl: '1h', inputTokens: -1 }]],
  ])('counts written tokens for the default lifetime with the details %j', (cacheDetails) => {
    expect(
      readUsage({ inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 800, cacheDetails }),
    ).toMatchObject({
      promptTokens: 801,
      cacheWriteTokens: 800,
      cacheWrite1hTokens: 0,
    });
  });

  it.each([
    ['openai.gpt-5.6', 4_995, 4_993, 4_995],
    ['us.openai.gpt-5.6', 4_995, 4_993, 4_995],
    ['openai.gpt-5.6', 2, 4_993, 4_995],
    ['anthropic.claude-sonnet-4-5', 4_995, 4_993, 9_988],
  ])('of a stream of %s with %i tokens of input and %i cached ones', (model, input, cached, prompt) => {
    const usage = { inputTokens: input, outputTokens: 19, cacheReadInputTokens: cached };
    const event = converse.createDecoder(1, model).decode(JSON.stringify({ metadata: { usage } }));
    expect(event.usage).toMatchObject({ promptTokens: prompt, cachedTokens: cached, completionTokens: 19 });
  });

  it('never has more tokens for one hour than were written', () => {
    const usage = {
      inputTokens: 1,
      cacheWriteInputTokens: 10,
      cacheDetails: [{ ttl: '1h', inputTokens: 50 }],
    };
    expect(readUsage(usage)).toMatchObject({ promptTokens: 11, cacheWriteTokens: 0, cacheWrite1hTokens: 10 });
  });

  it.each([1.5, -1, '7', null, undefined, Number.MAX_VALUE])('leaves out the count %p', (count) => {
    expect(readUsage({ inputTokens: count, outputTokens: count, cacheReadInputTokens: 3 })).toMatchObject({
      promptTokens: undefined,
      completionTokens: undefined,
    });
  });
});
