import type { JsonObject, JsonValue } from '../../json/json-value';
import {
  ableModel,
  accepted,
  chatBody,
  openPolicy,
  quarterCounter,
  validate,
} from '../../testing/chat-fixtures';
import { dataUri, jpeg, png } from '../../testing/image-fixtures';
import type { ModelView, TokenCounter, TokenCounting } from '../types';
import { validateChatRequest } from '../validate-chat-request';
import { imageTokens } from './image-tokens';

/** Records its texts, and counts words. */
function recordingCounter(): TokenCounter & { readonly texts: string[] } {
  const texts: string[] = [];
  return {
    ...quarterCounter,
    texts,
    count: (text) => {
      texts.push(text);
      return text.split(/\s+/).filter(Boolean).length;
    },
  };
}

function estimate(fields: Record<string, JsonValue>): { tokens: number; texts: string[] } {
  const counter = recordingCounter();
  const request = accepted(validate(chatBody(fields), {}, counter));
  return { tokens: request.estimatedInputTokens, texts: counter.texts };
}

describe('the estimate', () => {
  it('adds 3 per message and 3 for the reply', () => {
    expect(estimate({ messages: [{ role: 'user', content: 'one two' }] }).tokens).toBe(2 + 3 + 3);
    const two: JsonValue = [
      { role: 'system', content: 'one' },
      { role: 'user', content: [{ type: 'text', text: 'two three' }] },
    ];
    expect(estimate({ messages: two }).tokens).toBe(3 + 6 + 3);
  });

  it('counts names, refusals, and the ids, names and arguments of tool calls', () => {
    const messages: JsonValue = [
      { role: 'user', name: 'ann', content: 'hi' },
      {
        role: 'assistant',
        refusal: 'no',
        tool_calls: [{ id: 'call_id_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ];
    const { tokens, texts } = estimate({ messages });
    expect(texts).toEqual(['ann\nhi\nno\nf\n{}']);
    expect(tokens).toBe(5 + 1 + 6 + 3 + 8 + 3);
  });

  it('counts the id of each result, and the name of its function', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'search', arguments: '{}' } };
    const messages: JsonValue = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'one' },
      { role: 'tool', tool_call_id: 'other', content: 'two' },
    ];
    const { tokens, texts } = estimate({ messages });
    expect(texts).toEqual(['hi\nsearch\n{}\none\nsearch\ntwo']);
    expect(tokens).toBe(6 + 4 * 3 + 3 + 3 * 8 + Math.ceil((6 + 6 + 5) / 4));
  });

  it('counts readable reasoning as text, and the rest of a signed detail by its size', () => {
    const reasoning_details = [{ type: 'reasoning.text', index: 0, text: 'one two', signature: 'abcd' }];
    const messages: JsonValue = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'so', reasoning_details },
    ];
    const { tokens, texts } = estimate({ messages });
    expect(texts).toEqual(['hi\nso\none two']);
    const { text: _, ...signed } = reasoning_details[0] as Record<string, unknown>;
    expect(tokens).toBe(4 + 6 + 3 + Math.ceil(JSON.stringify(signed).length / 4));
  });

  it('counts tool definitions and JSON schemas as minified JSON', () => {
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    const withTool = estimate({ tools: [tool] });
    expect(withTool.texts[0]).toBe(`Hello\n${JSON.stringify(tool)}`);
    expect(withTool.tokens).toBe(2 + 3 + 3 + 10);
    const schema = { name: 'reply', schema: { type: 'object' } };
    const withSchema = estimate({ response_format: { type: 'json_schema', json_schema: schema } });
    expect(withSchema.texts[0]).toBe(`Hello\n${JSON.stringify(schema)}`);
  });

  it('counts forwarded fields only', () => {
    const prediction = { type: 'content', content: 'predicted' };
    expect(estimate({ prediction }).texts).toEqual(['Hello\npredicted']);
    expect(estimate({ prediction, model: 'acme/plain' }).texts).toEqual(['Hello']);
    expect(estimate({ metadata: { a: 'uncounted' }, user: 'uncounted' }).texts).toEqual(['Hello']);
  });

  it('never tokenizes image data', () => {
    const url = dataUri('image/png', png(512, 512));
    const { tokens, texts } = estimate({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
    expect(texts).toEqual(['']);
    expect(tokens).toBe(3 + 3 + 85 + 170);
  });

  it("multiplies the text, not the images, by the model's factor", () => {
    const model = { ...ableModel, tokenCounting: { ...ableModel.tokenCounting, factor: 1.5 } };
    const body = chatBody({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image_url', image_url: { url: dataUri('image/png', png(512, 512)) } },
          ],
        },
      ],
    });
    const result = validateWith(model, body);
    expect(result).toBe(Math.ceil(1.5 * (5 + 3 + 3)) + 255);
  });

  it('returns the input parts other than text, to verify usage reports', () => {
    const url = dataUri('image/png', png(512, 512));
    const messages: JsonValue = [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url } },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ];
    const tool = { type: 'function', function: { name: 'f' } };
    const json_schema = { name: 'reply', schema: { type: 'object' } };
    const parts = (fields: Record<string, JsonValue>) => accepted(validate(chatBody(fields))).inputParts;
    expect(parts({})).toEqual({ images: 0, imageTokens: 0, hasDefinitions: false });
    expect(parts({ messages })).toEqual({ images: 2, imageTokens: 2 * (85 + 170), hasDefinitions: false });
    expect(parts({ tools: [tool] }).hasDefinitions).toBe(true);
    expect(parts({ tools: [] }).hasDefinitions).toBe(false);
    expect(parts({ response_format: { type: 'json_object' } }).hasDefinitions).toBe(false);
    expect(parts({ response_format: { type: 'json_schema', json_schema } }).hasDefinitions).toBe(true);
  });

  it('supports an asynchronous counter', async () => {
    const slow: TokenCounter = { ...quarterCounter, count: () => Promise.resolve(10) };
    const result = await validateChatRequest(chatBody(), {
      policy: openPolicy,
      findModel: () => ableModel,
      tokenCounter: slow,
    });
    expect(result).toMatchObject({ estimatedInputTokens: 16 });
  });
});

function validateWith(model: ModelView, body: JsonObject): number | undefined {
  const result = validateChatRequest(body, {
    policy: openPolicy,
    findModel: () => model,
    tokenCounter: { ...quarterCounter, count: () => 5 },
  });
  return 'estimatedInputTokens' in result ? result.estimatedInputTokens : undefined;
}

describe('tokens of an image', () => {
  it.each<[string, number, number, number]>([
    ['tiles', 512, 512, 85 + 170],
    ['tiles', 1_024, 1_024, 85 + 170 * 4],
    ['tiles', 2_048, 4_096, 85 + 170 * 6],
    ['tiles', 1, 1, 85 + 170],
    ['tiles', 10_000, 10, 85 + 170 * 4],
    ['patches', 32, 32, 1],
    ['patches', 33, 32, 2],
    ['patches', 1_024, 1_024, 1_024],
    ['patches', 8_000, 8_000, 1_536],
    ['pixels', 1_000, 1_000, 1_334],
    ['pixels', 1_568, 784, 1_640],
    ['pixels', 8_000, 4_000, 1_640],
    ['gemini_tiles', 384, 384, 258],
    ['gemini_tiles', 768, 768, 258],
    ['gemini_tiles', 800, 600, 516],
    ['constant', 512, 512, 777],
    ['unheard_of', 512, 512, 777],
  ])('by %s, %d × %d: %d', (imageFormula, width, height, expected) => {
    const counting: TokenCounting = {
      encoding: 'o200k_base',
      factor: 1,
      imageFormula,
      imageTokens: 777,
      pageTokens: 1_500,
    };
    expect(imageTokens({ url: dataUri('image/png', png(width, height)) }, counting)).toBe(expected);
    expect(imageTokens({ url: dataUri('image/jpeg', jpeg(width, height)) }, counting)).toBe(expected);
  });

  it('counts low detail as the base tokens only', () => {
    const counting: TokenCounting = {
      encoding: 'o200k_base',
      factor: 1,
      imageFormula: 'tiles',
      imageTokens: 777,
      pageTokens: 1_500,
    };
    expect(imageTokens({ url: dataUri('image/png', png(2_000, 2_000)), detail: 'low' }, counting)).toBe(85);
  });
});
