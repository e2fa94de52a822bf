import type { JsonObject } from '@gateway/public-api';
import { constant, count, flag, list, oneOfTexts, record, reference, text, textOrNull, usd } from './schema';

const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter'];

const logprobs: JsonObject = {
  ...record('Log probabilities as the model gave them, when they were asked for.', {
    content: { type: ['array', 'null'], items: { type: 'object' } },
    refusal: { type: ['array', 'null'], items: { type: 'object' } },
  }),
  type: ['object', 'null'],
};

const generationId = (description: string): JsonObject => text(description, { pattern: '^gen-' });

const tokenUsage = record('What the completion used and cost.', {
  prompt_tokens: count('Tokens of the input.'),
  completion_tokens: count('Tokens of the output, reasoning included.'),
  total_tokens: count('Both together.'),
  prompt_tokens_details: record('', { cached_tokens: count("Input that came from the model's cache.") }),
  completion_tokens_details: record('', { reasoning_tokens: count('Output that was reasoning.') }),
  cost: usd('What was taken from the balance, in US dollars.'),
});

const toolCall = record('A call of a tool that the model asks for.', {
  id: text('To be repeated in the answering message.'),
  type: constant('function'),
  function: record('', {
    name: text('The name of the function.'),
    arguments: text('JSON text, as the model wrote it.'),
  }),
});

const chatCompletion = record('A whole completion.', {
  id: generationId('The id of the generation, for `GET /v1/generation`.'),
  object: constant('chat.completion'),
  created: count('Unix time in seconds.'),
  model: text('The model as it was asked for.'),
  choices: list(
    'One per completion.',
    record('', {
      index: count('Which of the `n` completions this is.'),
      message: record(
        'What the model wrote.',
        {
          role: constant('assistant'),
          content: textOrNull('The text; null when the model only called tools or refused.'),
          refusal: textOrNull('Why the model refused, if it did.'),
          reasoning_content: text('What the model thought first, where it shows that.'),
          tool_calls: list('Calls of tools.', reference('ToolCall'), { minItems: 1 }),
        },
        ['reasoning_content', 'tool_calls'],
      ),
      logprobs,
      finish_reason: oneOfTexts('Why the completion ended.', FINISH_REASONS),
    }),
    { minItems: 1 },
  ),
  usage: reference('TokenUsage'),
});

const chunk = record(
  'One event of a stream.',
  {
    id: generationId('The id of the generation; the same in every chunk.'),
    object: constant('chat.completion.chunk'),
    created: count('Unix time in seconds; the same in every chunk.'),
    model: text('The model as it was asked for.'),
    choices: list(
      'What is new; empty only in the chunk that tells the usage.',
      record('', {
        index: count('Which of the `n` completions this belongs to.'),
        delta: record(
          'Text to append, and parts of tool calls.',
          {
            role: constant('assistant'),
            content: textOrNull('More text.'),
            refusal: text('More of a refusal.'),
            reasoning_content: text('More of what the model thinks.'),
            tool_calls: list(
              'Parts of tool calls.',
              record(
                '',
                {
                  index: count('Which call this belongs to.'),
                  id: text('In the first part of a call.'),
                  type: constant('function'),
                  function: record(
                    '',
                    {
                      name: text('In the first part of a call.'),
                      arguments: text('More of the JSON text.'),
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
  ['usage', 'error'],
);

const model = record(
  'A model that the key may use.',
  {
    id: text('What to send as `model`.'),
    object: constant('model'),
    created: count('Unix time in seconds.'),
    owned_by: text('Who makes the model.'),
    name: text('For people.'),
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
    architecture: record('', {
      input_modalities: list('Kinds of input.', { type: 'string', enum: ['text', 'image'] }),
      output_modalities: list('Kinds of output.', { type: 'string', enum: ['text'] }),
    }),
    supported_parameters: list('Fields of the request that it takes.', { type: 'string' }),
    pricing: record('US dollars per token, as exact decimal texts.', {
      prompt: text('Input.'),
      completion: text('Output.'),
      image_token: text('Input that is an image.'),
      input_cache_read: text("Input from the model's cache."),
      internal_reasoning: text('Output that is reasoning.'),
    }),
  },
  ['reasoning'],
);

const credits = record('', {
  data: record('Amounts in US dollars.', {
    total_credits: usd('Everything that was ever added.'),
    total_usage: usd('Everything that was ever charged.'),
    balance: usd('`total_credits` less `total_usage`.'),
    reserved: usd('Held for requests that run.'),
    available: usd('`balance` less `reserved`: what a new request can use.'),
    currency: constant('USD'),
  }),
});

const generation = record('', {
  data: record('One settled request. Times in milliseconds, amounts in US dollars.', {
    id: generationId('The id of the completion.'),
    model: text('The model as it was asked for.'),
    created_at: text('When it was admitted, ISO 8601 in UTC.', { format: 'date-time' }),
    api_type: constant('completions'),
    streamed: flag('Whether it was answered as a stream.'),
    cancelled: flag('Whether the caller cancelled before its end.'),
    finish_reason: oneOfTexts('Why it ended; empty when it was cancelled.', [...FINISH_REASONS, 'error', '']),
    tokens_prompt: count('Tokens of the input.'),
    tokens_completion: count('Tokens of the output.'),
    native_tokens_prompt: count('The same, as the model counts.'),
    native_tokens_completion: count('The same, as the model counts.'),
    native_tokens_reasoning: count('Output that was reasoning.'),
    native_tokens_cached: count("Input that came from the model's cache."),
    total_cost: usd('What was taken from the balance.'),
    usage: usd('The same as `total_cost`.'),
    latency: count('Until the first token.'),
    generation_time: count('From the first token to the last.'),
    external_user: textOrNull("The request's `safety_identifier`, else its `user`."),
    request_id: text('The `x-request-id` of the answer.'),
  }),
});

const sums = {
  requests: count('Generations.'),
  prompt_tokens: count('Tokens of the input.'),
  completion_tokens: count('Tokens of the output.'),
  reasoning_tokens: count('Output that was reasoning.'),
  cached_tokens: count("Input that came from a model's cache."),
  total_tokens: count('Input and output.'),
  total_cost: usd('In US dollars.'),
};

const usageReport = record(
  'Sums over the settled generations of the organization.',
  {
    object: constant('list'),
    start_date: text('The first day, UTC.', { format: 'date' }),
    end_date: text('The last day, UTC.', { format: 'date' }),
    group_by: list('How it was grouped.', { type: 'string', enum: ['day', 'model', 'api_key'] }),
    model: text('The model that was asked for, if one was.'),
    currency: constant('USD'),
    totals: record('Sums of everything.', sums),
    data: list(
      'Sums per group. Groups without a generation are left out.',
      record(
        '',
        {
          date: text('When grouped by `day`.', { format: 'date' }),
          model: text('When grouped by `model`.'),
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
  ModelList: record('', { object: constant('list'), data: list('By id.', reference('Model')) }),
  Model: model,
  Credits: credits,
  Generation: generation,
  UsageReport: usageReport,
} as const satisfies Readonly<Record<string, JsonObject>>;
