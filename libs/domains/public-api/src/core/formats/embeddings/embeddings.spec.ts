import { isRefusal, type Refusal } from '@gateway/errors';
import { nanoUsd } from '@gateway/base';
import type { JsonObject, JsonValue } from '../../json/json-value';
import type {
  CallerPolicy,
  ModelView,
  TokenCounter,
  ValidatedChatRequest,
} from '../../chat-completion/types';
import { lowerToMaxCost } from '../../chat-completion/lower-to-max-cost';
import { validateChatRequest } from '../../chat-completion/validate-chat-request';
import {
  accepted,
  forwarded,
  openPolicy,
  plainModel,
  quarterCounter,
  verdict,
} from '../../testing/chat-fixtures';
import { modelListView, type ListedModel } from '../../views/model-list';
import { responseFormats } from '../response-formats';
import { embeddingsFields } from './fields';

const embedding: ModelView = {
  ...plainModel,
  id: 'acme/embed',
  contextLength: 10_000,
  maxOutputTokens: 0,
  embeddingDimensions: [1_536, 256],
  prices: { ...plainModel.prices, outputNanoUsdPerMillion: 0n, reasoningNanoUsdPerMillion: 0n },
};
const fixed: ModelView = { ...embedding, id: 'acme/fixed', embeddingDimensions: [384] };
const extra: ModelView = { ...embedding, id: 'acme/extra', extraParameters: ['input_type', 'input'] };
const disabled: ModelView = { ...embedding, id: 'acme/off', disabled: true };
const models = new Map([plainModel, embedding, fixed, extra, disabled].map((model) => [model.id, model]));

function validate(
  fields: Readonly<Record<string, JsonValue>>,
  policy: Partial<CallerPolicy> = {},
  tokenCounter: TokenCounter = quarterCounter,
) {
  const body: JsonObject = { model: embedding.id, input: 'Hello', ...fields };
  return validateChatRequest(body, {
    policy: { ...openPolicy, ...policy },
    findModel: (id) => models.get(id),
    format: 'embeddings',
    tokenCounter,
  });
}

function now(result: ReturnType<typeof validate>): ValidatedChatRequest | Refusal {
  if (result instanceof Promise) throw new Error('the counter of this test is synchronous');
  return result;
}

describe('a request for embeddings', () => {
  it.each<[JsonValue, JsonValue]>([
    ['Hello', ['Hello']],
    [
      ['Hello', 'Bye'],
      ['Hello', 'Bye'],
    ],
    [[1, 2], [[1, 2]]],
    [
      [[1, 2], [3]],
      [[1, 2], [3]],
    ],
  ])('sends the input %j as a list', (input, sent) => {
    expect(forwarded(now(validate({ input })))).toEqual({ input: sent, dimensions: 1_536 });
  });

  it('counts every text and token, and two marks for each input', () => {
    const tokensOf = (input: JsonValue) => accepted(now(validate({ input }))).estimatedInputTokens;
    expect(tokensOf('12345678')).toBe(2 + 2);
    expect(tokensOf(['12345678', '12345678'])).toBe(5 + 4);
    expect(tokensOf([[1, 2, 3], [4]])).toBe(4 + 4);
  });

  it('holds its input with a margin, and no output', () => {
    const request = accepted(now(validate({ input: 'x'.repeat(4_000) })));
    expect(request).toMatchObject({ maxOutputTokens: 0, stream: false, n: 1, isOutputVisible: false });
    expect(request.heldInputTokens).toBe(1_103);
    // At $5, the highest price of input.
    expect(request.heldCostNanoUsd).toBe(nanoUsd(1_103n * 5_000n));
    expect(lowerToMaxCost(request, nanoUsd(1n))).toMatchObject({ maxOutputTokens: 0 });
  });

  it('forwards one of the lengths of the model, and none to a model with one', () => {
    expect(forwarded(now(validate({ dimensions: 256 })))).toMatchObject({ dimensions: 256 });
    expect(forwarded(now(validate({ model: fixed.id })))).toEqual({ input: ['Hello'] });
    expect(forwarded(now(validate({ model: fixed.id, dimensions: 384 })))).toEqual({ input: ['Hello'] });
  });

  it('forwards the extra parameters of the model, and counts them', () => {
    const request = accepted(now(validate({ model: extra.id, input_type: 'search_query' })));
    expect(JSON.parse(request.bodyJson.toString())).toMatchObject({ input_type: 'search_query' });
    expect(request.estimatedInputTokens).toBe(5 + 2);
  });

  it('keeps the end user, and sends neither it nor the encoding', () => {
    const request = accepted(now(validate({ user: 'u-1', encoding_format: 'base64' })));
    expect(request).toMatchObject({ externalUser: 'u-1', response: { encodingFormat: 'base64' } });
    expect(forwarded(request)).toEqual({ input: ['Hello'], dimensions: 1_536 });
  });

  const many = (items: number, item: JsonValue = 'x') => Array.from({ length: items }, () => item);
  it.each<[Readonly<Record<string, JsonValue>>, string]>([
    [{ model: '' }, 'missing_model model'],
    [{ input: null }, 'missing_messages input'],
    [{ input: '' }, 'missing_messages input'],
    [{ input: [] }, 'missing_messages input'],
    [{ input: 7 }, 'missing_messages input'],
    [{ foo: 1 }, 'unknown_parameter foo'],
    [{ input_type: 'a' }, 'unknown_parameter input_type'],
    [{ messages: [] }, 'unknown_parameter messages'],
    [{ stream: true }, 'unknown_parameter stream'],
    [{ input: ['a', ''] }, 'invalid_request input[1]'],
    [{ input: ['a', 1] }, 'invalid_request input[1]'],
    [{ input: [1, 'a'] }, 'invalid_request input[1]'],
    [{ input: [[1], []] }, 'invalid_request input[1]'],
    [{ input: [1.5] }, 'invalid_request input[0]'],
    [{ input: [-1] }, 'invalid_request input[0]'],
    [{ input: [{}] }, 'invalid_request input'],
    [{ input: many(2_049) }, 'invalid_request input'],
    [{ input: many(2_048) }, 'invalid_request input'],
    [{ input: many(2_048), dimensions: 256 }, 'accepted'],
    [{ input: many(1_000) }, 'accepted'],
    [{ input: many(1_001) }, 'invalid_request input'],
    [{ dimensions: 300 }, 'invalid_request dimensions'],
    [{ dimensions: '256' }, 'invalid_request dimensions'],
    [{ encoding_format: 'int8' }, 'invalid_request encoding_format'],
    [{ model: 'acme/none' }, 'model_not_found model'],
    [{ model: disabled.id }, 'model_not_found model'],
    [{ model: plainModel.id }, 'model_not_found model'],
    [{ input: many(10_001, 1) }, 'context_length_exceeded input'],
    [{ input: [many(10_000, 1), many(10_001, 1)] }, 'context_length_exceeded input[1]'],
    [{ input: many(31, many(9_999, 1)) }, 'invalid_request input'],
  ])('of %.60j is %s', (fields, expected) => {
    expect(verdict(now(validate(fields)))).toBe(expected);
  });

  it('counts a long text alone, which may exceed the context length', async () => {
    const result = await validate({ input: ['short', 'x'.repeat(40_004)] });
    expect(verdict(result)).toBe('context_length_exceeded input[1]');
    const fits = accepted(await validate({ input: ['12345678', 'x'.repeat(40_000)] }));
    expect(fits.estimatedInputTokens).toBe(2 + 10_000 + 4);
  });

  it('counts no more long texts than the sum of tokens allows', async () => {
    let counted = 0;
    const counter: TokenCounter = {
      ...quarterCounter,
      count: async (text) => {
        counted += 1;
        return Math.ceil(text.length / 4);
      },
    };
    const result = await validate({ input: many(500, 'x'.repeat(40_000)), dimensions: 256 }, {}, counter);
    expect(verdict(result)).toBe('invalid_request input');
    expect(counted).toBe(31);
  });

  it('is refused for models that the key may not use, after the shape of its body', () => {
    expect(verdict(now(validate({}, { allowedModels: ['other'] })))).toBe('model_not_allowed model');
    expect(verdict(now(validate({ input: [''] }, { allowedModels: ['other'] })))).toBe(
      'invalid_request input[0]',
    );
  });

  it('names the field in the message of a refused one', () => {
    const result = now(validate({ messages: [] }));
    expect(isRefusal(result) && result.message).toContain("Use 'input'.");
    expect(embeddingsFields.map(({ name }) => name)).toContain('messages');
  });
});

it('an embedding model is unknown to every format of chat', () => {
  const policy = openPolicy;
  for (const format of ['chat', 'messages', 'responses'] as const) {
    const body = { model: embedding.id, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 };
    const given = format === 'responses' ? { model: embedding.id, input: 'Hi' } : body;
    const result = validateChatRequest(given, {
      ...{ policy, format, tokenCounter: quarterCounter },
      findModel: (id) => models.get(id),
    });
    expect(verdict(now(result))).toBe('model_not_found model');
  }
});

describe('the response', () => {
  const vectors = [
    [0.5, -0.25],
    [1, 0],
  ].map((numbers) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64'));
  const list = {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: vector })),
    model: embedding.id,
    usage: { prompt_tokens: 3, total_tokens: 3, cost: 0.1 },
  };
  const render = (requested: object) => {
    const body = responseFormats.embeddings.response(Buffer.from(JSON.stringify(list)), {
      requested,
    } as never);
    return typeof body === 'string' || body instanceof Uint8Array
      ? Buffer.from(body as string).toString()
      : [...body].join('');
  };

  it('has base64 where it was requested', () => {
    expect(JSON.parse(render({ encodingFormat: 'base64' }))).toEqual(list);
  });

  it('has numbers by default, with the members in the same order', () => {
    const text = render({});
    expect(JSON.parse(text)).toEqual({
      ...list,
      data: [
        { object: 'embedding', index: 0, embedding: [0.5, -0.25] },
        { object: 'embedding', index: 1, embedding: [1, 0] },
      ],
    });
    expect(Object.keys(JSON.parse(text) as object)).toEqual(Object.keys(list));
  });
});

describe('the model list', () => {
  const listed = (model: ModelView): ListedModel => ({
    ...model,
    name: model.id,
    ownedBy: 'a',
    createdUnixS: 1,
  });
  const view = (paths: readonly string[]) =>
    (modelListView([listed(plainModel), listed(embedding)], openPolicy, paths) as { data: JsonObject[] })
      .data;

  it('has embedding models only where their endpoint is served', () => {
    expect(view([]).map(({ id }) => id)).toEqual([plainModel.id]);
    expect(view(['/v1/chat/completions', '/v1/messages']).map(({ id }) => id)).toEqual([plainModel.id]);
  });

  it('names the endpoint of each kind, and the lengths of embeddings', () => {
    const [first, second] = view(['/v1/chat/completions', '/v1/embeddings']);
    expect(first).toMatchObject({
      ...{ id: embedding.id, endpoints: ['/v1/embeddings'], dimensions: [1_536, 256], capabilities: [] },
      architecture: { input_modalities: ['text'], output_modalities: ['embeddings'] },
      supported_parameters: ['model', 'input', 'dimensions', 'encoding_format'],
    });
    expect(second).toMatchObject({ id: plainModel.id, endpoints: ['/v1/chat/completions'] });
    expect(second).not.toHaveProperty('dimensions');
  });
});
