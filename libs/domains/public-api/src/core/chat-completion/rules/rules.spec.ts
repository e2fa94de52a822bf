import { NO_TARGET_RULES } from '@gateway/base';
import { refusalError } from '@gateway/errors';
import type { JsonValue } from '../../json/json-value';
import {
  accepted,
  chatBody,
  extraModel,
  forwarded,
  refused,
  validate,
  verdict,
  quarterCounter,
} from '../../testing/chat-fixtures';
import { dataUri, png } from '../../testing/image-fixtures';
import { chatFields } from '../schema/fields';
import type { CallerPolicy } from '../types';

type Fields = Record<string, JsonValue | undefined>;

const IMAGE = dataUri('image/png', png(32, 32));
const TOOL = {
  type: 'function',
  function: { name: 'look_up', parameters: { type: 'object', $schema: 'x' } },
};

function verdictOf(fields: Fields, policy: Partial<CallerPolicy> = {}): string {
  return verdict(validate(chatBody(fields), policy));
}

function messageVerdict(message: JsonValue): string {
  return verdictOf({ messages: [message] });
}

function imageMessage(url: JsonValue, role = 'user'): JsonValue {
  return {
    role,
    tool_call_id: 'call_1',
    content: [
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url } },
    ],
  };
}

describe('model and messages', () => {
  it.each<[Fields, string]>([
    [{ model: undefined }, 'missing_model model'],
    [{ model: null }, 'missing_model model'],
    [{ model: '' }, 'missing_model model'],
    [{ model: 7 }, 'invalid_request model'],
    [{ model: ['acme/able'] }, 'invalid_request model'],
    [{ messages: undefined }, 'missing_messages messages'],
    [{ messages: null }, 'missing_messages messages'],
    [{ messages: [] }, 'missing_messages messages'],
    [{ messages: 'hello' }, 'missing_messages messages'],
    [{ messages: { 0: 'hello' } }, 'missing_messages messages'],
  ])('%j → %s', (fields, expected) => {
    expect(verdictOf(fields)).toBe(expected);
  });
});

describe('unknown parameters', () => {
  it.each<[Fields, string]>([
    [{ foo: 1 }, 'unknown_parameter foo'],
    [{ foo: null }, 'unknown_parameter foo'],
    [{ zebra: 1, apple: 1, mango: 1 }, 'unknown_parameter apple'],
    [{ a: 1, Z: 1 }, 'unknown_parameter Z'],
    [{ Model: 'x' }, 'unknown_parameter Model'],
    [{ '': 1 }, 'unknown_parameter '],
    [{ constructor: 1 }, 'unknown_parameter constructor'],
    [{ extra_body: { top_k: 1 } }, 'unknown_parameter extra_body'],
  ])('%j → %s', (fields, expected) => {
    expect(verdictOf(fields)).toBe(expected);
  });

  it('refuses __proto__ as an unknown parameter, without prototype pollution', () => {
    const body = JSON.parse(
      '{"model":"acme/able","messages":[{"role":"user","content":"x"}],"__proto__":{"a":1}}',
    );
    expect(verdict(validate(body))).toBe('unknown_parameter __proto__');
    expect(verdict(validate({ ...body, model: extraModel.id }))).toBe('unknown_parameter __proto__');
  });

  it.each(chatFields.filter((field) => field.disposition === 'reject').map((field) => field.name))(
    '%s is refused with a value, and absent with null',
    (name) => {
      expect(verdictOf({ [name]: 1 })).toBe(`unknown_parameter ${name}`);
      expect(verdictOf({ [name]: null })).toBe('accepted');
    },
  );

  it('names the field and its replacement', () => {
    expect(refused(validate(chatBody({ functions: [] }))).message).toBe(
      "Unknown parameter: 'functions'. Use 'tools'.",
    );
    expect(refused(validate(chatBody({ reasoning: {} }))).message).toContain("Use 'reasoning_effort'.");
  });

  it('truncates a long name in the message', () => {
    const refusal = refused(validate(chatBody({ ['x'.repeat(1_000_000)]: 1 })));
    expect(refusal.param).toHaveLength(256);
  });

  it('accepts extra parameters only for the models that list them', () => {
    const extras = { top_k: 40, guided_regex: { any: ['value'] }, constructor: 'x' };
    expect(forwarded(validate(chatBody({ model: extraModel.id, ...extras })))).toMatchObject(extras);
    expect(verdictOf({ model: 'acme/able', top_k: 40 })).toBe('unknown_parameter top_k');
    expect(verdictOf({ model: 'acme/disabled', top_k: 40 })).toBe('unknown_parameter top_k');
    expect(verdictOf({ model: 'acme/none', top_k: 40 })).toBe('unknown_parameter top_k');
    expect(verdictOf({ model: extraModel.id, min_p: 0.1 })).toBe('unknown_parameter min_p');
    expect(verdictOf({ model: extraModel.id, top_k: null })).toBe('accepted');
    expect(forwarded(validate(chatBody({ model: extraModel.id })))).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
    });
  });
});

describe('images', () => {
  it.each(['user', 'assistant', 'tool', 'system'])(
    'refuses a remote link in a message of the role %s',
    (role) => {
      for (const url of ['https://a/b.png', 'HTTP://a', '//a/b', ' https://a']) {
        expect(messageVerdict(imageMessage(url, role))).toBe(
          'image_url_not_supported messages[0].content[1].image_url.url',
        );
      }
    },
  );

  it('refuses data that is no image, with its path', () => {
    for (const url of ['ftp://a/b', 'data:image/svg+xml;base64,AAAA', 'data:image/png;base64,AAA']) {
      expect(messageVerdict(imageMessage(url))).toBe('invalid_request messages[0].content[1].image_url.url');
    }
  });

  it('requires a model with vision for an inline image', () => {
    expect(messageVerdict(imageMessage(IMAGE))).toBe('accepted');
    expect(verdictOf({ model: 'acme/plain', messages: [imageMessage(IMAGE)] })).toBe(
      'vision_not_available messages[0].content[1]',
    );
  });
});

describe('JSON mode', () => {
  it.each(['json_object', 'json_schema'])('%s may be streamed with a key that allows it', (type) => {
    const response_format = {
      type,
      ...(type === 'json_schema' && { json_schema: { name: 'x', schema: {} } }),
    };
    const policy = { jsonStreaming: true };
    expect(verdictOf({ response_format, stream: true }, policy)).toBe('accepted');
    expect(verdictOf({ response_format, stream: true, n: 2 }, policy)).toBe('n_not_allowed n');
    expect(verdictOf({ response_format, stream: true, model: 'acme/plain' }, policy)).toBe(
      'json_mode_not_supported response_format',
    );
  });

  it('is known of a request, whether or not it is streamed', () => {
    const isJson = (fields: Fields) => accepted(validate(chatBody(fields), { jsonStreaming: true })).isJson;
    for (const stream of [false, true]) {
      expect(isJson({ stream, response_format: json })).toBe(true);
      expect(isJson({ stream, response_format: { type: 'text' } })).toBe(false);
      expect(isJson({ stream })).toBe(false);
    }
  });

  const json = { type: 'json_object' };
  const schema = { type: 'json_schema', json_schema: { name: 'x', schema: {} } };
  it.each<[Fields, string]>([
    [{ response_format: json }, 'accepted'],
    [{ response_format: schema }, 'accepted'],
    [{ response_format: json, stream: false }, 'accepted'],
    [{ response_format: json, stream: true }, 'json_mode_no_stream response_format'],
    [{ response_format: { type: 'text' }, stream: true }, 'accepted'],
    [{ response_format: json, model: 'acme/plain' }, 'json_mode_not_supported response_format'],
    [{ response_format: schema, model: 'acme/plain' }, 'json_mode_not_supported response_format'],
    [{ response_format: json, model: 'acme/json' }, 'accepted'],
    [{ response_format: schema, model: 'acme/json' }, 'json_mode_not_supported response_format'],
    [{ response_format: json, model: 'acme/schema' }, 'json_mode_not_supported response_format'],
    [{ response_format: schema, model: 'acme/schema' }, 'accepted'],
    [{ response_format: { type: 'text' }, model: 'acme/plain' }, 'accepted'],
  ])('%j → %s', (fields, expected) => {
    expect(verdictOf(fields)).toBe(expected);
  });

  it('suggests an alternative when streaming is refused', () => {
    const refusal = refused(validate(chatBody({ response_format: json, stream: true })));
    expect(refusalError(refusal).message).toMatch(/tool calling.*stream: false/);
  });
});

describe('n', () => {
  it.each<[JsonValue, string, string]>([
    [1, 'accepted', 'accepted'],
    [null, 'accepted', 'accepted'],
    [2, 'n_not_allowed n', 'accepted'],
    [1e308, 'n_not_allowed n', 'invalid_request n'],
    [129, 'n_not_allowed n', 'invalid_request n'],
    [0, 'invalid_request n', 'invalid_request n'],
    [-1, 'invalid_request n', 'invalid_request n'],
    [1.5, 'invalid_request n', 'invalid_request n'],
    ['2', 'invalid_request n', 'invalid_request n'],
  ])('%j → %s; with multiple completions enabled: %s', (n, byDefault, enabled) => {
    expect(verdictOf({ n })).toBe(byDefault);
    expect(verdictOf({ n }, { multipleCompletions: true })).toBe(enabled);
  });
});

describe('the cap on output', () => {
  it('names the cap, and max_tokens as the param for either field', () => {
    const refusal = refused(validate(chatBody({ max_completion_tokens: 101 }), { maxOutputTokensCap: 100 }));
    expect(refusal).toMatchObject({
      code: 'max_tokens_exceeds_cap',
      param: 'max_tokens',
      metadata: { limit: 100 },
    });
    expect(refusal.message).toContain('max_completion_tokens is 101');
    expect(refusal.message).toContain('100');
    expect(verdictOf({ max_tokens: 101 }, { maxOutputTokensCap: 100 })).toBe(
      'max_tokens_exceeds_cap max_tokens',
    );
    expect(verdictOf({ max_tokens: 100 }, { maxOutputTokensCap: 100 })).toBe('accepted');
  });

  it('never refuses a request without max_tokens', () => {
    expect(accepted(validate(chatBody(), { maxOutputTokensCap: 100 })).maxOutputTokens).toBe(100);
  });
});

describe('access to models', () => {
  it.each<[Fields, string[], string]>([
    [{ model: 'acme/none' }, [], 'model_not_found model'],
    [{ model: 'acme/disabled' }, [], 'model_not_found model'],
    [{ model: 'ACME/ABLE' }, [], 'model_not_found model'],
    [{ model: 'acme/disabled' }, ['acme/plain'], 'model_not_found model'],
    [{ model: 'acme/able' }, ['acme/plain'], 'model_not_allowed model'],
    [{ model: 'acme/able' }, ['acme/plain', 'acme/able'], 'accepted'],
  ])('%j with %j → %s', (fields, allowedModels, expected) => {
    expect(verdictOf(fields, { allowedModels })).toBe(expected);
  });

  it('refuses a model without a target that the organization allows, and names the reason', () => {
    const targetRules = { ...NO_TARGET_RULES, allowedRegions: ['us'] };
    expect(refused(validate(chatBody(), { targetRules }))).toMatchObject({
      code: 'model_not_allowed',
      message: "The organization does not allow any provider and region of the model 'acme/able'.",
    });
    expect(verdictOf({}, { targetRules: { ...NO_TARGET_RULES, allowedRegions: ['eu'] } })).toBe('accepted');
  });

  it('returns the same error for disabled and unknown models', () => {
    const [unknown, disabled] = ['acme/none', 'acme/disabled'].map((model) =>
      refused(validate(chatBody({ model }))).message?.replace(model, ''),
    );
    expect(disabled).toBe(unknown);
  });
});

describe('what a model supports', () => {
  const plain = { model: 'acme/plain' };
  it.each<[Fields, string]>([
    [{ tools: [TOOL] }, 'tools_not_supported tools'],
    [{ tools: [] }, 'accepted'],
    [{ tools: [], tool_choice: 'auto' }, 'accepted'],
    [{ reasoning_effort: 'low' }, 'reasoning_effort_not_supported reasoning_effort'],
    [{ logprobs: true }, 'invalid_request logprobs'],
    [{ logprobs: false }, 'accepted'],
    [{ logprobs: false, top_logprobs: 0 }, 'accepted'],
    [{ logit_bias: { '1': 1 } }, 'invalid_request logit_bias'],
    [{ logit_bias: {} }, 'accepted'],
    [{ parallel_tool_calls: false }, 'accepted'],
    [{ logprobs: true, parallel_tool_calls: true }, 'invalid_request logprobs'],
    [{ verbosity: 'low', prompt_cache_key: 'k', prediction: { type: 'content', content: 'x' } }, 'accepted'],
  ])('returns for a plain model with %j: %s', (fields, expected) => {
    expect(verdictOf({ ...plain, ...fields })).toBe(expected);
  });

  it('accepts allowed tools that are defined, and names one that is not', () => {
    const tools = [{ type: 'function', function: { name: 'a' } }];
    const allowing = (...names: string[]) => ({
      type: 'allowed_tools',
      allowed_tools: {
        mode: 'auto',
        tools: names.map((name) => ({ type: 'function', function: { name } })),
      },
    });
    expect(validate(chatBody({ tools, tool_choice: allowing('a') }))).toMatchObject({ stream: false });
    expect(refused(validate(chatBody({ tools, tool_choice: allowing('a', 'b') })))).toMatchObject({
      code: 'invalid_request',
      param: 'tool_choice.allowed_tools.tools[1].function.name',
    });
  });

  it('names the accepted levels for an unknown reasoning_effort', () => {
    const refusal = refused(validate(chatBody({ reasoning_effort: 'extreme' })));
    expect(refusal).toMatchObject({
      code: 'reasoning_effort_not_supported',
      metadata: { accepted: ['low', 'medium', 'high'] },
    });
    expect(refusal.message).toContain('low, medium, high');
    expect(refused(validate(chatBody({ ...plain, reasoning_effort: 'low' }))).metadata).toEqual({
      accepted: [],
    });
  });
});

describe('the context window', () => {
  it('refuses an estimate and max_tokens that do not fit, with the text that clients recognize', () => {
    const refusal = refused(
      validate(chatBody({ max_tokens: 4_000 }), {}, { ...quarterCounter, count: () => 5_000 }),
    );
    expect(refusal).toMatchObject({
      code: 'context_length_exceeded',
      param: 'messages',
      metadata: { estimated_tokens: 9_006, limit: 8_192 },
    });
    expect(refusal.message).toMatch(
      /^This model's maximum context length is 8192 tokens\. However, you requested 9006 tokens \(5006 in the messages, 4000 in the completion\)\./,
    );
  });

  it('refuses only an input that fills the window when max_tokens is absent', () => {
    const counting = (tokens: number) => ({ ...quarterCounter, count: () => tokens - 6 });
    expect(accepted(validate(chatBody(), {}, counting(8_191))).maxOutputTokens).toBe(1);
    expect(verdict(validate(chatBody(), {}, counting(8_192)))).toBe('context_length_exceeded messages');
    expect(accepted(validate(chatBody(), {}, counting(100))).maxOutputTokens).toBe(4_096);
  });

  it('accepts input and max_tokens that fill the window exactly', () => {
    const counter = { ...quarterCounter, count: () => 8_192 - 4_000 - 6 };
    expect(verdict(validate(chatBody({ max_tokens: 4_000 }), {}, counter))).toBe('accepted');
    expect(verdict(validate(chatBody({ max_tokens: 4_001 }), {}, counter))).toBe(
      'context_length_exceeded messages',
    );
  });

  it.each(['max_tokens', 'max_completion_tokens'])(
    "lowers %s to the model's maximum when it fits the window",
    (name) => {
      const counter = { ...quarterCounter, count: () => 100 };
      for (const requested of [4_096, 4_097, 8_192 - 106]) {
        expect(accepted(validate(chatBody({ [name]: requested }), {}, counter)).maxOutputTokens).toBe(4_096);
      }
      const refusal = refused(validate(chatBody({ [name]: 8_192 - 105 }), {}, counter));
      expect(refusal).toMatchObject({
        code: 'context_length_exceeded',
        param: 'messages',
        metadata: { estimated_tokens: 8_193, limit: 8_192 },
      });
      for (const requested of [32_000, 1e15]) {
        const refusal = verdict(validate(chatBody({ [name]: requested }), {}, counter));
        expect(refusal).toBe('context_length_exceeded messages');
      }
    },
  );

  it('holds credit for the lowered value only', () => {
    const held = (max_tokens: number) => accepted(validate(chatBody({ max_tokens }))).heldCostNanoUsd;
    expect(held(6_000)).toBe(held(4_096));
  });
});
