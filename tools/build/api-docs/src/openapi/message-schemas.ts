import type { JsonObject } from '@gateway/public-api';
import { constant, count, list, oneOfTextsOrNull, record, reference, text, textOrNull, usd } from './schema';

const nothing = (description: string): JsonObject => ({ type: 'null', description });

const block = (
  type: string,
  description: string,
  members: Readonly<Record<string, JsonObject>>,
): JsonObject => record(description, { type: constant(type, 'The kind of block.'), ...members });

const content = list('The blocks of the response, in order.', {
  oneOf: [
    block('text', 'Text.', {
      text: text('What the model says.'),
      citations: nothing('None: documents are not supported.'),
    }),
    block('thinking', 'Readable thinking.', {
      thinking: text('The text; empty where the model returns none.'),
      signature: text('To be repeated unchanged with the block; empty where the model does not sign.'),
    }),
    block('redacted_thinking', 'What the model needs back unchanged, and is not readable.', {
      data: text('Opaque data.'),
    }),
    block('tool_use', 'A call of a tool.', {
      id: text('The ID to repeat in the `tool_result`.'),
      name: text('The name of the tool.'),
      input: { type: 'object', description: 'The arguments.' },
      caller: record('Who calls.', { type: constant('direct', 'The model.') }),
    }),
  ],
});

const usage = record(
  'Tokens, and the cost. In a stream, the first event has the estimated input, and the last one what is charged.',
  {
    input_tokens: count('Input tokens without those that the cache read or wrote.'),
    cache_creation_input_tokens: count("Input tokens written to the model's cache."),
    cache_read_input_tokens: count("Input tokens read from the model's cache."),
    cache_creation: nothing('Not divided by lifetime.'),
    output_tokens: count('Output tokens, thinking included.'),
    output_tokens_details: record('Details of the output.', {
      thinking_tokens: count('Output tokens used for thinking.'),
    }),
    server_tool_use: nothing('There are no server tools.'),
    inference_geo: nothing('Not reported.'),
    service_tier: constant('standard', 'There is one tier.'),
    speed: nothing('There is one speed.'),
    cost: usd('The amount charged, in US dollars.'),
  },
  ['output_tokens_details', 'server_tool_use', 'cost'],
);

export const messageSchemas = {
  Message: record('The response of a model, as the SDKs of Anthropic type it.', {
    id: text('The ID of the generation.', { pattern: '^gen-' }),
    type: constant('message', 'The type of this object.'),
    role: constant('assistant', 'The author.'),
    model: text('The ID of the model, as requested.'),
    content,
    stop_reason: oneOfTextsOrNull('Why the response ended; null in the first event of a stream.', [
      'end_turn',
      'max_tokens',
      'stop_sequence',
      'tool_use',
      'refusal',
    ]),
    stop_sequence: textOrNull('The stop sequence that ended it, where the provider says so.'),
    stop_details: {
      type: ['object', 'null'],
      description: 'Of a refusal; its category and explanation are null.',
    },
    container: nothing('There are no containers.'),
    diagnostics: nothing('There are none.'),
    usage,
  }),
  MessageTokens: record('The count that a request would be admitted with.', {
    input_tokens: count('Estimated input tokens.'),
  }),
  MessagesError: record('An error: the same as everywhere, with a type next to it.', {
    type: constant('error', 'The type of this object.'),
    error: reference('ErrorDetail'),
  }),
} as const satisfies Readonly<Record<string, JsonObject>>;
