import { apiTypes } from '@gateway/base';
import type { JsonObject } from '@gateway/public-api';
import {
  constant,
  count,
  flag,
  list,
  oneOfTexts,
  oneOfTextsOrNull,
  record,
  reference,
  text,
  textOrNull,
  usd,
} from './schema';
import { usageReport } from './usage-report-schema';

const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter'];

const logprobs: JsonObject = {
  ...record('Log probabilities from the model, when requested.', {
    content: {
      type: ['array', 'null'],
      items: { type: 'object' },
      description: 'One per token of the text, with the most likely alternatives; null without text.',
    },
    refusal: {
      type: ['array', 'null'],
      items: { type: 'object' },
      description: 'The same for a refusal; null without one.',
    },
  }),
  type: ['object', 'null'],
};

const generationId = (description: string): JsonObject => text(description, { pattern: '^gen-' });

const tokenUsage = record('Tokens and cost of the completion.', {
  prompt_tokens: count('Input tokens, images included.'),
  completion_tokens: count('Output tokens, reasoning included.'),
  total_tokens: count('Input and output tokens together.'),
  prompt_tokens_details: record('Details of the input tokens.', {
    cached_tokens: count("Input tokens read from the model's cache."),
    cache_write_tokens: count("Input tokens written to the model's cache."),
  }),
  completion_tokens_details: record('Details of the output tokens.', {
    reasoning_tokens: count('Output tokens used for reasoning.'),
  }),
  cost: usd('The amount charged, in US dollars.'),
});

const extraContent: JsonObject = {
  type: 'object',
  description: 'Data of some models that belongs to the call, to be repeated unchanged with it.',
};

const toolCall = record(
  'A tool call by the model.',
  {
    id: text('The ID to repeat in the message with the result.'),
    type: constant('function', 'The kind of tool.'),
    function: record('The function to call.', {
      name: text('The name of the function.'),
      arguments: text('Its arguments as JSON text; the model may produce invalid JSON.'),
    }),
    extra_content: extraContent,
  },
  ['extra_content'],
);

const reasoningDetail = record(
  'A part of the reasoning. Later turns of a tool loop have to repeat all parts with an `index` unchanged. Reasoning that its provider does not sign is one part without an `index`.',
  {
    type: oneOfTexts('Whether the reasoning is readable.', [
      'reasoning.text',
      'reasoning.summary',
      'reasoning.encrypted',
    ]),
    index: count('Which part of the reasoning this is. Entries with the same index belong together.'),
    text: text('The reasoning; of `reasoning.text`.'),
    signature: text('The signature of the provider; of `reasoning.text`.'),
    summary: text('The summary; of `reasoning.summary`.'),
    data: text('The encrypted reasoning; of `reasoning.encrypted`.'),
    id: text('The id of the part, as its provider sent it.'),
    format: text('The format of the part, as its provider sent it.'),
    signed_by: text('The target that signed it, of models with several targets.'),
  },
  ['index', 'text', 'signature', 'summary', 'data', 'id', 'format', 'signed_by'],
);

const systemFingerprint = text(
  'The backend configuration that served the request, as reported by the provider; at most 128 printable characters. The same `seed` gives similar output only while it stays the same. Absent when the provider reports none.',
);

const chatCompletion = record(
  'A non-streaming completion.',
  {
    id: generationId('The ID of the generation, for `GET /v1/generation`.'),
    object: constant('chat.completion', 'The type of this object.'),
    created: count('Creation time, as Unix time in seconds.'),
    model: text('The model of the request.'),
    system_fingerprint: systemFingerprint,
    choices: list(
      'One per completion.',
      record('One completion.', {
        index: count('Which of the `n` completions this is.'),
        message: record(
          'The message of the model.',
          {
            role: constant('assistant', 'The role of the author.'),
            content: textOrNull('The text; null when the model only called tools or refused.'),
            refusal: textOrNull('Why the model refused, if it did.'),
            reasoning_content: text('The reasoning of the model, where it returns it.'),
            reasoning_details: list('Signed parts of the reasoning.', reasoningDetail, { minItems: 1 }),
            tool_calls: list('Tool calls by the model.', reference('ToolCall'), {
              minItems: 1,
            }),
          },
          ['reasoning_content', 'reasoning_details', 'tool_calls'],
        ),
        logprobs,
        finish_reason: oneOfTexts('Why the completion finished.', FINISH_REASONS),
      }),
      { minItems: 1 },
    ),
    usage: reference('TokenUsage'),
  },
  ['system_fingerprint'],
);

const chunk = record(
  'One event of a stream.',
  {
    id: generationId('The ID of the generation; the same in every chunk.'),
    object: constant('chat.completion.chunk', 'The type of this object.'),
    created: count('Start time of the completion, as Unix time in seconds; the same in every chunk.'),
    model: text('The model of the request.'),
    system_fingerprint: systemFingerprint,
    choices: list(
      'The changes; empty only in the chunk with the usage.',
      record('The changes of one completion.', {
        index: count('Which of the `n` completions this belongs to.'),
        delta: record(
          'Text to append, and parts of tool calls.',
          {
            role: constant('assistant', 'The role of the author; in the first chunk of a completion.'),
            content: textOrNull('Text to append.'),
            refusal: text('Refusal text to append.'),
            reasoning_content: text('Reasoning text to append.'),
            reasoning_details: list('Signed parts of the reasoning to append.', reasoningDetail),
            tool_calls: list(
              'Parts of tool calls.',
              record(
                'Part of one call.',
                {
                  index: count('Which call this belongs to.'),
                  id: text('The ID to repeat in the message with the result; in the first part of a call.'),
                  type: constant('function', 'The kind of tool; in the first part of a call.'),
                  function: record(
                    'The function to call.',
                    {
                      name: text('The name of the function; in the first part of a call.'),
                      arguments: text('JSON text of the arguments to append.'),
                    },
                    ['name', 'arguments'],
                  ),
                  extra_content: extraContent,
                },
                ['id', 'type', 'function', 'extra_content'],
              ),
            ),
          },
          ['role', 'content', 'refusal', 'reasoning_content', 'reasoning_details', 'tool_calls'],
        ),
        logprobs,
        finish_reason: {
          type: ['string', 'null'],
          enum: [...FINISH_REASONS, 'error', null],
          description: 'Why the completion finished; `error` when it failed; null before it finishes.',
        },
      }),
    ),
    usage: {
      description: 'Only with `stream_options.include_usage`: null, or the usage in the last chunk.',
      anyOf: [reference('TokenUsage'), { type: 'null' }],
    },
    error: reference('ErrorDetail'),
  },
  ['system_fingerprint', 'usage', 'error'],
);

const tokenPrices = {
  prompt: text('Per input token.'),
  completion: text('Per output token.'),
  image_token: text('Per input token of an image.'),
  input_cache_read: text("Per input token read from the model's cache."),
  input_cache_write: text(
    "Per input token written to the model's cache for five minutes, or for its only lifetime.",
  ),
  input_cache_write_1h: text("Per input token written to the model's cache for one hour."),
  internal_reasoning: text('Per output token used for reasoning.'),
};

const model = record(
  'A model that the key may use.',
  {
    id: text('The value for `model` in requests.'),
    object: constant('model', 'The type of this object.'),
    created: count('When the model was published, as Unix time in seconds.'),
    owned_by: text('The owner of the model.'),
    name: text('The display name of the model.'),
    context_length: count(
      'The context window: input and output tokens together; of an embedding model, the tokens of one input.',
    ),
    max_output_tokens: count('The maximum output tokens of one completion; 0 for an embedding model.'),
    capabilities: list(
      'Such as `tools`, `vision`, `files`, `json_mode`, `structured_outputs`, `reasoning`.',
      {
        type: 'string',
      },
    ),
    reasoning: record(
      'Levels of `reasoning_effort`; only for models that support it.',
      {
        supported_efforts: list('The accepted levels.', { type: 'string' }),
        default_effort: text('The level used without the field, where known.'),
      },
      ['default_effort'],
    ),
    architecture: record('Input and output modalities.', {
      input_modalities: list('Kinds of input.', { type: 'string', enum: ['text', 'image', 'file'] }),
      output_modalities: list('Kinds of output.', { type: 'string', enum: ['text', 'embeddings'] }),
    }),
    dimensions: list('The lengths of embeddings, the default first; only for embedding models.', {
      type: 'integer',
    }),
    endpoints: list(
      'The inference endpoints that serve it; only where the deployment has more than chat completions.',
      { type: 'string' },
    ),
    supported_parameters: list('Supported request fields.', { type: 'string' }),
    pricing: record(
      'US dollars per token, as decimal strings.',
      {
        ...tokenPrices,
        tiers: list(
          'Prices of all tokens of a request with a longer prompt, ascending; the last one that applies counts.',
          record('The prices of one tier.', {
            above_prompt_tokens: count('The prompt has more tokens than this.'),
            ...tokenPrices,
          }),
        ),
      },
      ['tiers'],
    ),
  },
  ['reasoning', 'dimensions', 'endpoints'],
);

const embeddingList = record('Embeddings, in the order of the inputs.', {
  object: constant('list', 'The type of this object.'),
  data: list(
    'One per input.',
    record('An embedding.', {
      object: constant('embedding', 'The type of this object.'),
      index: count('The position of the input.'),
      embedding: {
        description: 'Numbers, or with `encoding_format: base64` the base64 of little-endian 32-bit floats.',
        anyOf: [{ type: 'array', items: { type: 'number' } }, { type: 'string' }],
      },
    }),
  ),
  model: text('The requested model.'),
  usage: record('Tokens and cost of the request.', {
    prompt_tokens: count('Input tokens.'),
    total_tokens: count('Input tokens, too: there is no output.'),
    cost: usd('The amount charged, in US dollars.'),
  }),
});

const credits = record('The balance of the organization.', {
  data: record('Amounts in US dollars.', {
    total_credits: usd('All credit ever added, in US dollars.'),
    total_usage: usd('All usage ever charged, in US dollars.'),
    balance: usd('`total_credits` minus `total_usage`, in US dollars.'),
    reserved: usd('Held for running requests, in US dollars.'),
    available: usd('`balance` minus `reserved`, in US dollars: available for new requests.'),
    currency: constant('USD', 'The currency of all amounts.'),
  }),
});

const generation = record('One past request.', {
  data: record('One settled request. Times in milliseconds, amounts in US dollars.', {
    id: generationId('The ID of the completion.'),
    model: text('The model of the request.'),
    created_at: text('Admission time, ISO 8601 in UTC.', { format: 'date-time' }),
    api_type: oneOfTexts('The API of the request; `completions` are chat completions.', apiTypes),
    streamed: flag('Whether the response was a stream.'),
    cancelled: flag('Whether the client cancelled it.'),
    finish_reason: oneOfTexts('Why it finished; empty when it was cancelled.', [
      ...FINISH_REASONS,
      'error',
      '',
    ]),
    error_code: textOrNull(
      'Why the generation failed, as an error code; null if it did not. One that failed before its first token has no tokens and no cost.',
    ),
    tokens_prompt: count('Input tokens.'),
    tokens_completion: count('Output tokens.'),
    native_tokens_prompt: count('Input tokens by the count of the model.'),
    native_tokens_completion: count('Output tokens by the count of the model.'),
    native_tokens_reasoning: count('Output tokens used for reasoning.'),
    native_tokens_cached: count("Input tokens read from the model's cache."),
    native_tokens_cache_write: count("Input tokens written to the model's cache."),
    native_tokens_cache_write_1h: count('Of these, tokens that were written for one hour.'),
    usage_source: oneOfTextsOrNull(
      'Who counted the tokens: the `provider`, or the gateway (`counted`) when the provider reported no plausible usage; null without a response of the provider.',
      ['provider', 'counted'],
    ),
    total_cost: usd('The amount charged, in US dollars.'),
    usage: usd('The same as `total_cost`, in US dollars.'),
    latency: count('Time from admission to the first token, or to the failure without one, in milliseconds.'),
    generation_time: count('Time from the first to the last token, in milliseconds.'),
    external_user: textOrNull('`safety_identifier` of the request, else `user`.'),
    request_id: text('The `x-request-id` of the response.'),
  }),
});

/** Schemas of successful responses, by their names in the document. */
export const responseSchemas = {
  EmbeddingList: embeddingList,
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chunk,
  ToolCall: toolCall,
  TokenUsage: tokenUsage,
  ModelList: record('The models that the key may use.', {
    object: constant('list', 'The type of this object.'),
    data: list('The models, sorted by ID.', reference('Model')),
  }),
  Model: model,
  Credits: credits,
  Generation: generation,
  UsageReport: usageReport,
} as const satisfies Readonly<Record<string, JsonObject>>;
