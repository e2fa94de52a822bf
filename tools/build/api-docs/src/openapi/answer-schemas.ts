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

const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter'];

const logprobs: JsonObject = {
  ...record('Log probabilities as the model gave them, when they were asked for.', {
    content: {
      type: ['array', 'null'],
      items: { type: 'object' },
      description: 'One per token of the text, with the likeliest alternatives; null without text.',
    },
    refusal: {
      type: ['array', 'null'],
      items: { type: 'object' },
      description: 'The same of a refusal; null without one.',
    },
  }),
  type: ['object', 'null'],
};

const generationId = (description: string): JsonObject => text(description, { pattern: '^gen-' });

const tokenUsage = record('What the completion used and cost.', {
  prompt_tokens: count('Tokens of the input, images included.'),
  completion_tokens: count('Tokens of the output, reasoning included.'),
  total_tokens: count('Tokens of input and output together.'),
  prompt_tokens_details: record('What the input was made of.', {
    cached_tokens: count("Tokens of the input that came from the model's cache."),
  }),
  completion_tokens_details: record('What the output was made of.', {
    reasoning_tokens: count('Tokens of the output that were reasoning.'),
  }),
  cost: usd('What was taken from the balance, in US dollars.'),
});

const toolCall = record('A call of a tool that the model asks for.', {
  id: text('To be repeated in the answering message.'),
  type: constant('function', 'The kind of tool.'),
  function: record('The function to call.', {
    name: text('The name of the function.'),
    arguments: text('Its arguments: JSON text as the model wrote it, which may be invalid.'),
  }),
});

const systemFingerprint = text(
  'Which build of what served the request, as the provider calls it; at most 128 printable characters. With the same `seed`, answers are alike only while it stays the same. Absent when the provider names none.',
);

const chatCompletion = record(
  'A whole completion.',
  {
    id: generationId('The id of the generation, for `GET /v1/generation`.'),
    object: constant('chat.completion', 'What kind of object this is.'),
    created: count('When it was made, as Unix time in seconds.'),
    model: text('The model as it was asked for.'),
    system_fingerprint: systemFingerprint,
    choices: list(
      'One per completion.',
      record('One completion.', {
        index: count('Which of the `n` completions this is.'),
        message: record(
          'What the model wrote.',
          {
            role: constant('assistant', 'Who speaks.'),
            content: textOrNull('The text; null when the model only called tools or refused.'),
            refusal: textOrNull('Why the model refused, if it did.'),
            reasoning_content: text('What the model thought first, where it shows that.'),
            tool_calls: list('Calls of tools that the model asks for.', reference('ToolCall'), {
              minItems: 1,
            }),
          },
          ['reasoning_content', 'tool_calls'],
        ),
        logprobs,
        finish_reason: oneOfTexts('Why the completion ended.', FINISH_REASONS),
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
    id: generationId('The id of the generation; the same in every chunk.'),
    object: constant('chat.completion.chunk', 'What kind of object this is.'),
    created: count('When the completion was begun, as Unix time in seconds; the same in every chunk.'),
    model: text('The model as it was asked for.'),
    system_fingerprint: systemFingerprint,
    choices: list(
      'What is new; empty only in the chunk that tells the usage.',
      record('What is new of one completion.', {
        index: count('Which of the `n` completions this belongs to.'),
        delta: record(
          'Text to append, and parts of tool calls.',
          {
            role: constant('assistant', 'Who speaks; in the first chunk of a completion.'),
            content: textOrNull('More text, to be appended.'),
            refusal: text('More of a refusal, to be appended.'),
            reasoning_content: text('More of what the model thinks.'),
            tool_calls: list(
              'Parts of tool calls.',
              record(
                'Part of one call.',
                {
                  index: count('Which call this belongs to.'),
                  id: text('To be repeated in the answering message; in the first part of a call.'),
                  type: constant('function', 'The kind of tool; in the first part of a call.'),
                  function: record(
                    'The function to call.',
                    {
                      name: text('The name of the function; in the first part of a call.'),
                      arguments: text('More of the JSON text of the arguments, to be appended.'),
                    },
                    ['name', 'arguments'],
                  ),
                },
                ['id', 'type', 'function'],
              ),
            ),
          },
          ['role', 'content', 'refusal', 'reasoning_content', 'tool_calls'],
        ),
        logprobs,
        finish_reason: {
          type: ['string', 'null'],
          enum: [...FINISH_REASONS, 'error', null],
          description: 'Why the completion ended; `error` when it broke off; null before its end.',
        },
      }),
    ),
    usage: {
      description: 'Only with `stream_options.include_usage`: null, and in the last chunk the usage.',
      anyOf: [reference('TokenUsage'), { type: 'null' }],
    },
    error: reference('ErrorDetail'),
  },
  ['system_fingerprint', 'usage', 'error'],
);

const model = record(
  'A model that the key may use.',
  {
    id: text('What to send as `model`.'),
    object: constant('model', 'What kind of object this is.'),
    created: count('When the model was published, as Unix time in seconds.'),
    owned_by: text('Who makes the model.'),
    name: text('What people call the model.'),
    context_length: count('Tokens that input and output may have together.'),
    max_output_tokens: count('The most tokens of one completion.'),
    capabilities: list('Such as `tools`, `vision`, `json_mode`, `reasoning`.', { type: 'string' }),
    reasoning: record(
      'Levels of `reasoning_effort`; only on models that take it.',
      {
        supported_efforts: list('The accepted levels.', { type: 'string' }),
        default_effort: text('The level without the field, where it is known.'),
      },
      ['default_effort'],
    ),
    architecture: record('What goes in and out.', {
      input_modalities: list('Kinds of input.', { type: 'string', enum: ['text', 'image'] }),
      output_modalities: list('Kinds of output.', { type: 'string', enum: ['text'] }),
    }),
    supported_parameters: list('Fields of the request that it takes.', { type: 'string' }),
    pricing: record('US dollars per token, as exact decimal texts.', {
      prompt: text('Of a token of input.'),
      completion: text('Of a token of output.'),
      image_token: text('Of a token of input that is an image.'),
      input_cache_read: text("Of a token of input that came from the model's cache."),
      internal_reasoning: text('Of a token of output that is reasoning.'),
    }),
  },
  ['reasoning'],
);

const credits = record('The balance of the organization.', {
  data: record('Amounts in US dollars.', {
    total_credits: usd('Everything that was ever added, in US dollars.'),
    total_usage: usd('Everything that was ever charged, in US dollars.'),
    balance: usd('`total_credits` less `total_usage`, in US dollars.'),
    reserved: usd('Held for requests that run, in US dollars.'),
    available: usd('`balance` less `reserved`, in US dollars: what a new request can use.'),
    currency: constant('USD', 'The currency of all amounts.'),
  }),
});

const generation = record('What became of one request.', {
  data: record('One settled request. Times in milliseconds, amounts in US dollars.', {
    id: generationId('The id of the completion.'),
    model: text('The model as it was asked for.'),
    created_at: text('When it was admitted, ISO 8601 in UTC.', { format: 'date-time' }),
    api_type: constant('completions', 'Which API was called.'),
    streamed: flag('Whether it was answered as a stream.'),
    cancelled: flag('Whether the caller cancelled before its end.'),
    finish_reason: oneOfTexts('Why it ended; empty when it was cancelled.', [...FINISH_REASONS, 'error', '']),
    tokens_prompt: count('Tokens of the input.'),
    tokens_completion: count('Tokens of the output.'),
    native_tokens_prompt: count('Tokens of the input, as the model counts.'),
    native_tokens_completion: count('Tokens of the output, as the model counts.'),
    native_tokens_reasoning: count('Tokens of the output that were reasoning.'),
    native_tokens_cached: count("Tokens of the input that came from the model's cache."),
    usage_source: oneOfTextsOrNull(
      'Who counted the tokens: `provider`, or `counted` by the gateway where the provider reported none that could be believed; null of generations from before this was kept.',
      ['provider', 'counted'],
    ),
    total_cost: usd('What was taken from the balance, in US dollars.'),
    usage: usd('The same as `total_cost`, in US dollars.'),
    latency: count('From the admission to the first token, in milliseconds.'),
    generation_time: count('From the first token to the last, in milliseconds.'),
    external_user: textOrNull("The request's `safety_identifier`, else its `user`."),
    request_id: text('The `x-request-id` of the answer.'),
  }),
});

const sums = {
  requests: count('How many generations were settled.'),
  prompt_tokens: count('Tokens of the input.'),
  completion_tokens: count('Tokens of the output.'),
  reasoning_tokens: count('Tokens of the output that were reasoning.'),
  cached_tokens: count("Tokens of the input that came from a model's cache."),
  total_tokens: count('Tokens of input and output together.'),
  total_cost: usd('What was taken from the balance, in US dollars.'),
};

const usageReport = record(
  'Sums over the settled generations of the organization.',
  {
    object: constant('list', 'What kind of object this is.'),
    start_date: text('The first day, UTC.', { format: 'date' }),
    end_date: text('The last day, UTC.', { format: 'date' }),
    group_by: list('How it was grouped.', { type: 'string', enum: ['day', 'model', 'api_key'] }),
    model: text('The model that was asked for, if one was.'),
    currency: constant('USD', 'The currency of all amounts.'),
    totals: record('Sums of everything.', sums),
    data: list(
      'Sums per group. Groups without a generation are left out.',
      record(
        'One group.',
        {
          date: text('The day, UTC, when grouped by `day`.', { format: 'date' }),
          model: text('The id of the model, when grouped by `model`.'),
          api_key: text('The id of the key, when grouped by `api_key`.'),
          ...sums,
        },
        ['date', 'model', 'api_key'],
      ),
    ),
  },
  ['model'],
);

/** What 200 answers look like, by the names that the document gives them. */
export const answerSchemas = {
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chunk,
  ToolCall: toolCall,
  TokenUsage: tokenUsage,
  ModelList: record('The models that the key may use.', {
    object: constant('list', 'What kind of object this is.'),
    data: list('The models, in the order of their ids.', reference('Model')),
  }),
  Model: model,
  Credits: credits,
  Generation: generation,
  UsageReport: usageReport,
} as const satisfies Readonly<Record<string, JsonObject>>;
