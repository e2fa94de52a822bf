import { messageShape, MAX_MESSAGES } from './message-shape';
import {
  externalUser,
  ignoredMetadata,
  outputLength,
  predictionShape,
  responseFormatShape,
  toolChoiceShape,
  toolShape,
} from './field-shapes';
import { any, anyObject, boolean, list, number, optional, record, text, textOr, type Shape } from './shape';

/**
 * What the gateway does with a top-level field.
 * - `honour`: acts on it.
 * - `forward`: checks it and passes it to the model.
 * - `accept`: checks it and goes on without it.
 * - `reject`: answers `unknown_parameter`; listed for its hint, and because null means absent.
 */
export type Disposition = 'honour' | 'forward' | 'accept' | 'reject';

export interface Field {
  readonly name: string;
  readonly disposition: Disposition;
  readonly shape: Shape;
  /** For the API documentation: what it means and, of an amount, its unit. */
  readonly doc: string;
  /** What holds when it is absent, to follow "Default: "; undefined where it is required. */
  readonly absent?: string;
  /** The model's capability without which the field is refused or dropped. */
  readonly needs?: string;
  /** Whether a model without the capability makes the field be refused or, as a mere hint, dropped. */
  readonly otherwise?: 'refuse' | 'drop';
  /** Added to the message of a rejected field. */
  readonly hint?: string;
}

/** One that a request must have. */
const needed = (name: string, shape: Shape, doc: string): Field => ({
  name,
  disposition: 'honour',
  shape,
  doc,
});

const honour = (name: string, shape: Shape, doc: string, absent: string): Field => ({
  name,
  disposition: 'honour',
  shape,
  doc,
  absent,
});

const forward = (
  name: string,
  shape: Shape,
  doc: string,
  absent: string,
  support: Pick<Field, 'needs' | 'otherwise'> = {},
): Field => ({ name, disposition: 'forward', shape, doc, absent, ...support });

const accept = (name: string, shape: Shape, doc: string, absent: string): Field => ({
  name,
  disposition: 'accept',
  shape,
  doc,
  absent,
});

/** Of fields that are the model's own matter. */
const AS_THE_MODEL = "the model's own";

const reject = (name: string, hint?: string): Field => ({
  name,
  disposition: 'reject',
  shape: any(),
  doc: 'Not supported.',
  ...(hint === undefined ? {} : { hint }),
});

/**
 * Every top-level field of POST /v1/chat/completions, in the order in which
 * faults are looked for. A null means absent for each of them. A field that is
 * not here is unknown, unless the model lists it as an extra parameter.
 */
export const chatFields: readonly Field[] = [
  needed('model', text({ minLength: 1 }), 'The id of a model of the model list.'),
  needed(
    'messages',
    list(messageShape, { minItems: 1, maxItems: MAX_MESSAGES }),
    'The conversation so far, oldest message first.',
  ),
  honour(
    'max_tokens',
    outputLength,
    "The most tokens that each completion may have, reasoning included. What they would cost is held. Above the model's `max_output_tokens` it counts as that, as long as the input and the given value fit the context window together.",
    "the most that the model's limits, its context window and the organization's cap allow",
  ),
  honour('max_completion_tokens', outputLength, 'The same as `max_tokens`, in tokens.', 'as `max_tokens`'),
  honour(
    'n',
    number({ integer: true, min: 1 }),
    'How many completions to make. More than 1 has to be enabled for the organization.',
    '1',
  ),
  honour('stream', boolean(), 'Whether the answer comes as server-sent events.', '`false`'),
  honour(
    'stream_options',
    record({
      include_usage: optional(
        boolean(),
        'Whether a last chunk tells what the completion used and cost.',
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
    'Whether and which tool the model has to call: `none`, `auto` (as it likes), `required` (at least one), or one by name.',
    '`auto` with `tools`, else `none`',
  ),
  forward(
    'parallel_tool_calls',
    boolean(),
    'Whether the model may call several tools at once. A hint; dropped for models that do not know it.',
    AS_THE_MODEL,
    {
      needs: 'parallel_tool_calls',
      otherwise: 'drop',
    },
  ),
  honour(
    'response_format',
    responseFormatShape,
    'In which format the model answers. JSON is for models with the capability `json_mode`, and cannot be streamed.',
    'text',
  ),
  honour(
    'reasoning_effort',
    text(),
    'How much the model thinks first: one of its `reasoning.supported_efforts` in the model list.',
    "the model's `reasoning.default_effort`",
  ),
  forward(
    'temperature',
    number({ min: 0, max: 2 }),
    'Randomness of the sampling; 0 is the least.',
    AS_THE_MODEL,
  ),
  forward(
    'top_p',
    number({ min: 0, max: 1 }),
    'Samples only from the most likely tokens that together have this share of the probability.',
    AS_THE_MODEL,
  ),
  forward(
    'stop',
    textOr(list(text(), { maxItems: 4, emptyMeansAbsent: true })),
    'Up to four texts that end the completion. They are not part of it. An empty list means none.',
    'none',
  ),
  forward(
    'seed',
    number({ int64: true }),
    'Asks for the same answer to the same request, as far as the model can promise that. It is passed on digit by digit.',
    'a new one each time',
  ),
  forward(
    'frequency_penalty',
    number({ min: -2, max: 2 }),
    'Makes tokens less likely the more often they occurred; below 0 more likely.',
    '0',
  ),
  forward(
    'presence_penalty',
    number({ min: -2, max: 2 }),
    'Makes tokens that occurred at all less likely; below 0 more likely.',
    '0',
  ),
  forward('logprobs', boolean(), 'Whether to answer with the log probability of each token.', '`false`', {
    needs: 'logprobs',
    otherwise: 'refuse',
  }),
  forward(
    'top_logprobs',
    number({ integer: true, min: 0, max: 20 }),
    'How many of the most likely tokens to tell at each place. Needs `logprobs`.',
    '0',
    { needs: 'logprobs', otherwise: 'refuse' },
  ),
  forward(
    'logit_bias',
    {
      kind: 'map',
      name: text({ maxLength: 10, pattern: /^[0-9]+$/ }),
      values: number({ min: -100, max: 100 }),
      maxEntries: 1_024,
    },
    'What is added to the likelihood of tokens, by their number in the vocabulary of the model: -100 bans one, 100 forces it.',
    'nothing is added',
    { needs: 'logit_bias', otherwise: 'refuse' },
  ),
  forward(
    'verbosity',
    text({ oneOf: ['low', 'medium', 'high'] }),
    'How long an answer should be. A hint; dropped for models that do not know it.',
    AS_THE_MODEL,
    {
      needs: 'verbosity',
      otherwise: 'drop',
    },
  ),
  forward(
    'prompt_cache_key',
    text({ maxLength: 512 }),
    "Requests with the same key are likelier to find their beginning in the model's cache. A hint; dropped for models that do not know it.",
    'none',
    {
      needs: 'prompt_cache',
      otherwise: 'drop',
    },
  ),
  forward(
    'prompt_cache_retention',
    text({ maxLength: 64 }),
    "How long the beginning should stay in the model's cache, in the model's own words such as `24h`. A hint; dropped for models that do not know it.",
    AS_THE_MODEL,
    {
      needs: 'prompt_cache',
      otherwise: 'drop',
    },
  ),
  forward(
    'prompt_cache_options',
    anyObject(),
    "Further options of the model's cache, passed to it as they are. A hint; dropped for models that do not know it.",
    'none',
    {
      needs: 'prompt_cache',
      otherwise: 'drop',
    },
  ),
  forward(
    'prediction',
    predictionShape,
    'What much of the answer will be, known beforehand, so that it comes faster. A hint; dropped for models that do not know it.',
    'none',
    {
      needs: 'prediction',
      otherwise: 'drop',
    },
  ),
  accept(
    'user',
    externalUser,
    "Your name for the end user; shown with the generation, not sent to the model's provider.",
    'none',
  ),
  accept('safety_identifier', externalUser, 'The same as `user`, and preferred to it.', 'as `user`'),
  accept(
    'metadata',
    ignoredMetadata,
    'An object or a text of yours. It has no effect and is not kept.',
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
    'Has no effect: answers are text.',
    '`text`',
  ),
  reject('functions', "Use 'tools'."),
  reject('function_call', "Use 'tool_choice'."),
  reject('audio', 'Audio is not supported.'),
  reject('web_search_options', 'Web search is not supported.'),
  reject('moderation'),
  reject('top_k', 'This model does not take it.'),
  reject('min_p', 'This model does not take it.'),
  reject('top_a', 'This model does not take it.'),
  reject('repetition_penalty', 'This model does not take it.'),
  reject('models', "Name one model in 'model'."),
  reject('provider', 'The gateway chooses the provider.'),
  reject('route', 'The gateway chooses the route.'),
  reject('plugins'),
  reject('transforms'),
  reject('reasoning', "Use 'reasoning_effort'."),
  reject('include_reasoning', "Use 'reasoning_effort'."),
  reject('usage', "Usage is in every answer; in streams with 'stream_options.include_usage'."),
  reject('session_id', "Use 'user' or 'metadata'."),
  reject('thinking', "Use 'reasoning_effort'."),
  reject('extra_body', "It is an option of client libraries: its content belongs at the body's top level."),
];

export const chatFieldsByName: ReadonlyMap<string, Field> = new Map(
  chatFields.map((field) => [field.name, field]),
);
