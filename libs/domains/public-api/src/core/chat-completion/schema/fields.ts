import { accept, AS_THE_MODEL, type Field, forward, honour, reject, required } from './field';
import { messageShape, MAX_MESSAGES } from './message-shape';
import {
  externalUser,
  acceptedMetadata,
  outputLength,
  predictionShape,
  responseFormatShape,
  stopSequence,
  toolChoiceShape,
  toolShape,
} from './field-shapes';
import { anyObject, boolean, list, number, optional, record, text, textOr } from './shape';

/**
 * Every top-level field of POST /v1/chat/completions, in the order of
 * validation. A null means absent. Any other field is unknown, unless it is an
 * extra parameter of the model.
 */
export const chatFields: readonly Field[] = [
  required('model', text({ minLength: 1 }), 'The id of a model, as in the model list.'),
  required(
    'messages',
    list(messageShape, { minItems: 1, maxItems: MAX_MESSAGES }),
    'The conversation so far, oldest message first.',
  ),
  honour(
    'max_tokens',
    outputLength,
    "Maximum tokens of each completion, reasoning included. Their cost is held. A value above the model's `max_output_tokens` is lowered to it, as long as the input and the given value fit the context window together.",
    "the maximum that the model's limits, its context window and the organization's cap allow",
  ),
  honour('max_completion_tokens', outputLength, 'The same as `max_tokens`, in tokens.', 'as `max_tokens`'),
  honour(
    'n',
    number({ integer: true, min: 1 }),
    'The number of completions. More than 1 must be enabled for the organization.',
    '1',
  ),
  honour('stream', boolean(), 'Whether the response is streamed as server-sent events.', '`false`'),
  honour(
    'stream_options',
    record({
      include_usage: optional(
        boolean(),
        'Whether a last chunk reports the usage and cost of the completion.',
        '`false`',
      ),
    }),
    'Options of a stream. Without `stream` they have no effect.',
    'none',
  ),
  honour(
    'tools',
    list(toolShape, { maxItems: 128, emptyMeansAbsent: true }),
    'Functions that the model may call, for models with the capability `tools`. Empty means none.',
    'none',
  ),
  forward(
    'tool_choice',
    toolChoiceShape,
    'Which tool the model must call: `none`, `auto` (the model decides), `required` (at least one), or one by name.',
    '`auto` with `tools`, else `none`',
  ),
  forward(
    'parallel_tool_calls',
    boolean(),
    'Whether the model may call several tools in one turn. A hint: dropped for models that do not support it.',
    AS_THE_MODEL,
    {
      capability: 'parallel_tool_calls',
      ifUnsupported: 'drop',
    },
  ),
  honour(
    'response_format',
    responseFormatShape,
    'The format of the response. `json_object` requires a model with the capability `json_mode`, `json_schema` one with `structured_outputs`. Neither can be streamed, unless the key allows it.',
    'text',
  ),
  honour(
    'reasoning_effort',
    text(),
    'How much the model reasons before it responds: one of its `reasoning.supported_efforts` in the model list.',
    "the model's `reasoning.default_effort`",
  ),
  forward(
    'temperature',
    number({ min: 0, max: 2 }),
    'Randomness of the sampling; 0 is the least random.',
    AS_THE_MODEL,
  ),
  forward(
    'top_p',
    number({ min: 0, max: 1 }),
    'Nucleus sampling: uses only the most likely tokens that together have this probability.',
    AS_THE_MODEL,
  ),
  forward(
    'stop',
    textOr(list(stopSequence, { maxItems: 4, emptyMeansAbsent: true }), stopSequence),
    'Up to four sequences that end the completion. They are not included in it. An empty list means none.',
    'none',
  ),
  forward(
    'seed',
    number({ int64: true }),
    'Requests the same response for the same request, as far as the model supports it. Passed to the model with all its digits.',
    'a random seed for each request',
  ),
  forward(
    'frequency_penalty',
    number({ min: -2, max: 2 }),
    'Makes tokens less likely the more often they occurred; negative values make them more likely.',
    '0',
  ),
  forward(
    'presence_penalty',
    number({ min: -2, max: 2 }),
    'Makes tokens that occurred before less likely; negative values make them more likely.',
    '0',
  ),
  forward('logprobs', boolean(), 'Whether to return the log probability of each token.', '`false`', {
    capability: 'logprobs',
    ifUnsupported: 'refuse',
  }),
  forward(
    'top_logprobs',
    number({ integer: true, min: 0, max: 20 }),
    'The number of most likely tokens to return at each position. Requires `logprobs`.',
    '0',
    { capability: 'logprobs', ifUnsupported: 'refuse' },
  ),
  forward(
    'logit_bias',
    {
      kind: 'map',
      name: text({ maxLength: 10, pattern: /^[0-9]+$/ }),
      values: number({ min: -100, max: 100 }),
      maxEntries: 1_024,
    },
    "The bias added to tokens, by token id in the model's vocabulary: -100 bans a token, 100 forces it.",
    'no bias',
    { capability: 'logit_bias', ifUnsupported: 'refuse' },
  ),
  forward(
    'verbosity',
    text({ oneOf: ['low', 'medium', 'high'] }),
    'How long the response should be. A hint: dropped for models that do not support it.',
    AS_THE_MODEL,
    {
      capability: 'verbosity',
      ifUnsupported: 'drop',
    },
  ),
  forward(
    'prompt_cache_key',
    text({ maxLength: 512 }),
    'Requests with the same key are more likely to hit the prompt cache. A hint: dropped for models that do not support it.',
    'none',
    {
      capability: 'prompt_cache',
      ifUnsupported: 'drop',
    },
  ),
  forward(
    'prompt_cache_retention',
    text({ maxLength: 64 }),
    "How long the prompt should stay in the prompt cache, in the provider's format such as `24h`. A hint: dropped for models that do not support it.",
    AS_THE_MODEL,
    {
      capability: 'prompt_cache',
      ifUnsupported: 'drop',
    },
  ),
  forward(
    'prompt_cache_options',
    anyObject({ maxCharacters: 4_096 }),
    'Further options of the prompt cache, passed to the model unchanged: at most 4,096 characters of JSON. A hint: dropped for models that do not support it.',
    'none',
    {
      capability: 'prompt_cache',
      ifUnsupported: 'drop',
    },
  ),
  forward(
    'prediction',
    predictionShape,
    'Text that is expected in the response, which speeds it up. A hint: dropped for models that do not support it.',
    'none',
    {
      capability: 'prediction',
      ifUnsupported: 'drop',
    },
  ),
  accept(
    'user',
    externalUser,
    "Your identifier of the end user. Shown with the generation; not sent to the model's provider.",
    'none',
  ),
  accept('safety_identifier', externalUser, 'The same as `user`; takes precedence over it.', 'as `user`'),
  accept(
    'metadata',
    acceptedMetadata,
    'An object or a text. The entries that the organization declared as usage tags are stored with the generation; others have no effect and are not stored.',
    'none',
  ),
  accept('store', boolean(), 'Has no effect: completions are not stored.', '`false`'),
  accept(
    'service_tier',
    text({ oneOf: ['auto', 'default', 'flex', 'scale', 'priority', 'standard'] }),
    'Has no effect: there is one tier.',
    '`auto`',
  ),
  accept(
    'modalities',
    list(text({ oneOf: ['text'] }), { minItems: 1, maxItems: 1 }),
    'Has no effect: responses are text.',
    '`text`',
  ),
  reject('functions', "Use 'tools'."),
  reject('function_call', "Use 'tool_choice'."),
  reject('audio', 'Audio is not supported.'),
  reject('web_search_options', 'Web search is not supported.'),
  reject('moderation'),
  reject('top_k', 'This model does not support it.'),
  reject('min_p', 'This model does not support it.'),
  reject('top_a', 'This model does not support it.'),
  reject('repetition_penalty', 'This model does not support it.'),
  reject('models', "Name one model in 'model'."),
  reject('provider', 'The gateway chooses the provider.'),
  reject('route', 'The gateway chooses the route.'),
  reject('plugins'),
  reject('transforms'),
  reject('reasoning', "Use 'reasoning_effort'."),
  reject('include_reasoning', "Use 'reasoning_effort'."),
  reject('usage', "Every response includes usage; for streams, set 'stream_options.include_usage'."),
  reject('session_id', "Use 'user' or 'metadata'."),
  reject('thinking', "Use 'reasoning_effort'."),
  reject('extra_body', 'It is an option of client libraries. Send its content at the top level of the body.'),
];

export const chatFieldsByName: ReadonlyMap<string, Field> = new Map(
  chatFields.map((field) => [field.name, field]),
);
