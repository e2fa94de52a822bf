import { messageShape, MAX_MESSAGES } from './message-shape';
import {
  any,
  anyObject,
  boolean,
  list,
  number,
  optional,
  record,
  required,
  text,
  textOr,
  variants,
  type Shape,
} from './shape';

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
  /** For the API documentation. */
  readonly doc: string;
  /** The model's capability without which the field is refused or dropped. */
  readonly needs?: string;
  /** Whether a model without the capability makes the field be refused or, as a mere hint, dropped. */
  readonly otherwise?: 'refuse' | 'drop';
  /** Added to the message of a rejected field. */
  readonly hint?: string;
}

/** Function names: what every provider accepts. */
const functionName = text({ minLength: 1, maxLength: 64, pattern: /^[a-zA-Z0-9_-]+$/ });

/** Whole numbers that every JSON reader keeps exactly. */
const exactInteger = number({ integer: true, min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });

const outputLength = number({ integer: true, min: 1 });

/** Letters that no terminal, log or database takes amiss. */
const externalUser = text({
  maxLength: 512,
  check: (value) => (/[\u0000-\u001f\u007f]/.test(value) ? 'it has control characters.' : undefined),
  checkPattern: '^[^\\u0000-\\u001f\\u007f]*$',
});

const toolShape = variants(
  'type',
  {
    function: record({
      type: required(text()),
      function: required(
        record({
          name: required(functionName),
          description: optional(text()),
          parameters: optional(anyObject()),
          strict: optional(boolean()),
        }),
      ),
    }),
  },
  { custom: 'Custom tools are not supported.' },
);

const toolChoiceShape = textOr(
  variants('type', {
    function: record({
      type: required(text()),
      function: required(record({ name: required(functionName) })),
    }),
  }),
  text({ oneOf: ['none', 'auto', 'required'] }),
);

const responseFormatShape = variants('type', {
  text: record({ type: required(text()) }),
  json_object: record({ type: required(text()) }),
  json_schema: record({
    type: required(text()),
    json_schema: required(
      record({
        name: required(functionName),
        description: optional(text()),
        schema: optional(anyObject()),
        strict: optional(boolean()),
      }),
    ),
  }),
});

const predictionShape = variants('type', {
  content: record({
    type: required(text()),
    content: required(
      textOr(list(variants('type', { text: record({ type: required(text()), text: required(text()) }) }))),
    ),
  }),
});

const honour = (name: string, shape: Shape, doc: string): Field => ({
  name,
  disposition: 'honour',
  shape,
  doc,
});

const forward = (
  name: string,
  shape: Shape,
  doc: string,
  support: Pick<Field, 'needs' | 'otherwise'> = {},
): Field => ({ name, disposition: 'forward', shape, doc, ...support });

const accept = (name: string, shape: Shape, doc: string): Field => ({
  name,
  disposition: 'accept',
  shape,
  doc,
});

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
  honour('model', text({ minLength: 1 }), 'The id of a model of the model list.'),
  honour('messages', list(messageShape, { minItems: 1, maxItems: MAX_MESSAGES }), 'The conversation so far.'),
  honour('max_tokens', outputLength, 'The most tokens that a completion may have.'),
  honour('max_completion_tokens', outputLength, 'The same as max_tokens.'),
  honour('n', number({ integer: true, min: 1 }), 'Completions to make. More than 1 has to be enabled.'),
  honour('stream', boolean(), 'Whether the answer comes as server-sent events.'),
  honour(
    'stream_options',
    record({ include_usage: optional(boolean()) }),
    'include_usage: a last chunk tells the usage. Without stream it has no effect.',
  ),
  honour(
    'tools',
    list(toolShape, { maxItems: 128, emptyMeansAbsent: true }),
    'Functions that the model may call. Empty means none.',
  ),
  forward('tool_choice', toolChoiceShape, 'Whether and which tool the model has to call.'),
  forward('parallel_tool_calls', boolean(), 'Whether the model may call several tools at once.', {
    needs: 'parallel_tool_calls',
    otherwise: 'refuse',
  }),
  honour(
    'response_format',
    responseFormatShape,
    'json_object and json_schema make the model answer in JSON.',
  ),
  honour(
    'reasoning_effort',
    text(),
    'How much the model thinks first; one of the levels that the model accepts.',
  ),
  forward('temperature', number({ min: 0, max: 2 }), 'Randomness of the sampling.'),
  forward('top_p', number({ min: 0, max: 1 }), 'Share of probability that is sampled from.'),
  forward(
    'stop',
    textOr(list(text(), { minItems: 1, maxItems: 4 })),
    'Up to four texts that end the completion.',
  ),
  forward('seed', exactInteger, 'Asks for the same answer to the same request; at most 2^53 - 1.'),
  forward('frequency_penalty', number({ min: -2, max: 2 }), 'Makes frequent tokens less likely.'),
  forward('presence_penalty', number({ min: -2, max: 2 }), 'Makes tokens that occurred less likely.'),
  forward('logprobs', boolean(), 'Whether to return log probabilities.', {
    needs: 'logprobs',
    otherwise: 'refuse',
  }),
  forward(
    'top_logprobs',
    number({ integer: true, min: 0, max: 20 }),
    'How many of the most likely tokens to return; needs logprobs.',
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
    'Makes tokens, named by their number, more or less likely.',
    { needs: 'logit_bias', otherwise: 'refuse' },
  ),
  forward(
    'verbosity',
    text({ oneOf: ['low', 'medium', 'high'] }),
    'A hint; dropped for models that know none.',
    {
      needs: 'verbosity',
      otherwise: 'drop',
    },
  ),
  forward('prompt_cache_key', text({ maxLength: 512 }), 'A hint; dropped for models that know none.', {
    needs: 'prompt_cache',
    otherwise: 'drop',
  }),
  forward('prompt_cache_retention', text({ maxLength: 64 }), 'A hint; dropped for models that know none.', {
    needs: 'prompt_cache',
    otherwise: 'drop',
  }),
  forward('prompt_cache_options', anyObject(), 'A hint; dropped for models that know none.', {
    needs: 'prompt_cache',
    otherwise: 'drop',
  }),
  forward('prediction', predictionShape, 'A hint; dropped for models that know none.', {
    needs: 'prediction',
    otherwise: 'drop',
  }),
  accept(
    'user',
    externalUser,
    "Your name for the end user; shown with the generation, not sent to the model's provider.",
  ),
  accept('safety_identifier', externalUser, 'The same as user, and preferred to it.'),
  accept(
    'metadata',
    { kind: 'map', name: text({ maxLength: 64 }), values: text({ maxLength: 512 }), maxEntries: 16 },
    'Up to 16 pairs of texts. They have no effect.',
  ),
  accept('store', boolean(), 'Has no effect; completions are not stored.'),
  accept('service_tier', text({ oneOf: ['auto', 'default'] }), 'There is one tier.'),
  accept('modalities', list(text({ oneOf: ['text'] }), { minItems: 1, maxItems: 1 }), 'Answers are text.'),
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
