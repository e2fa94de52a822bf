import type { JsonObject } from '@gateway/public-api';
import { constant, count, flag, list, oneOfTexts, record, reference, text, textOrNull, usd } from './schema';

const nothing = (description: string): JsonObject => ({ type: 'null', description });

const orNull = (schema: JsonObject): JsonObject => ({ ...schema, type: [schema['type'] as string, 'null'] });

const item = (
  type: string,
  description: string,
  members: Readonly<Record<string, JsonObject>>,
  optional: readonly string[] = [],
): JsonObject =>
  record(
    description,
    { id: text('The ID of the item.'), type: constant(type, 'The kind of item.'), ...members },
    optional,
  );

const status = oneOfTexts('Whether the item is complete.', ['in_progress', 'completed', 'incomplete']);
const call = {
  status,
  call_id: text('The ID to repeat in the output.'),
  name: text('The name of the tool.'),
};

const output = list('The items of the response, in order.', {
  oneOf: [
    item(
      'reasoning',
      'Reasoning.',
      {
        summary: list(
          'Readable reasoning.',
          record('A part.', {
            type: constant('summary_text', 'The kind of part.'),
            text: text('What the model thinks.'),
          }),
        ),
        encrypted_content: text('To be repeated unchanged, when `include` requests it.'),
      },
      ['encrypted_content'],
    ),
    item('message', 'A message of the model.', {
      status,
      role: constant('assistant', 'The author.'),
      content: list('Its parts.', {
        oneOf: [
          record('Text.', {
            type: constant('output_text', 'The kind of part.'),
            text: text('What the model says.'),
            annotations: list('Empty: there are no hosted tools.', { type: 'object' }),
            logprobs: list('Empty: they are in chat completions only.', { type: 'object' }),
          }),
          record('A refusal.', {
            type: constant('refusal', 'The kind of part.'),
            refusal: text('The text of the refusal.'),
          }),
        ],
      }),
    }),
    item('function_call', 'A call of a function.', {
      ...call,
      arguments: text('The arguments, as JSON text.'),
    }),
    item('custom_tool_call', 'A call of a custom tool.', { ...call, input: text('The input.') }),
  ],
});

const usage = record('Tokens and cost.', {
  input_tokens: count('Input tokens, images included.'),
  input_tokens_details: record('Details of the input tokens.', {
    cached_tokens: count("Input tokens read from the model's cache."),
    cache_write_tokens: count("Input tokens written to the model's cache."),
  }),
  output_tokens: count('Output tokens, reasoning included.'),
  output_tokens_details: record('Details of the output tokens.', {
    reasoning_tokens: count('Output tokens used for reasoning.'),
  }),
  total_tokens: count('Input and output tokens together.'),
  cost: usd('The amount charged, in US dollars.'),
});

const repeated = (description: string): JsonObject => ({
  description: `As in the request, or its default. ${description}`,
});

export const typedResponseSchemas = {
  Response: record('A response, as the SDKs of OpenAI type it.', {
    id: text('The ID of the generation.', { pattern: '^gen-' }),
    object: constant('response', 'The type of this object.'),
    created_at: count('When it was created, in seconds since 1970.'),
    status: oneOfTexts('Whether it has ended, and how.', [
      'in_progress',
      'completed',
      'incomplete',
      'failed',
    ]),
    background: flag('Always false.'),
    error: {
      description: 'Why it failed; null otherwise.',
      anyOf: [reference('ErrorDetail'), nothing('No failure.')],
    },
    incomplete_details: orNull(
      record('Why it is incomplete.', {
        reason: oneOfTexts('The reason.', ['max_output_tokens', 'content_filter']),
      }),
    ),
    instructions: nothing('Not repeated.'),
    max_output_tokens: repeated('The output limit, in tokens.'),
    max_tool_calls: nothing('There are no hosted tools.'),
    metadata: repeated('Not stored.'),
    model: text('The ID of the model, as requested.'),
    output,
    parallel_tool_calls: repeated('A hint.'),
    previous_response_id: nothing('Responses are not stored.'),
    prompt_cache_key: repeated('A hint.'),
    reasoning: repeated('The effort.'),
    safety_identifier: textOrNull('As in the request.'),
    service_tier: constant('default', 'There is one tier.'),
    store: flag('Always false: responses are not stored.'),
    temperature: repeated('Randomness of the sampling.'),
    text: repeated('The format.'),
    tool_choice: repeated('Which tool the model must call.'),
    tools: list('Empty: not repeated.', { type: 'object' }),
    top_logprobs: count('Always 0: chat completions have them.'),
    top_p: repeated('Nucleus sampling.'),
    truncation: constant('disabled', 'Input that does not fit is refused.'),
    usage: {
      description: 'Tokens and cost; null before the end.',
      anyOf: [usage, nothing('Before the end.')],
    },
    user: textOrNull('As in the request.'),
  }),
} as const satisfies Readonly<Record<string, JsonObject>>;
