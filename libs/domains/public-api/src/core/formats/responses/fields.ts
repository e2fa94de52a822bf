import {
  externalUser,
  formatName,
  functionName,
  outputLength,
} from '../../chat-completion/schema/field-shapes';
import {
  accept,
  AS_THE_MODEL,
  type Field,
  forward,
  honour,
  reject,
  required as requiredField,
} from '../../chat-completion/schema/field';
import { chatFieldsByName } from '../../chat-completion/schema/fields';
import { MAX_MESSAGES } from '../../chat-completion/schema/message-shape';
import {
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
} from '../../chat-completion/schema/shape';
import { hostedToolHints } from '../hosted-tools';
import { itemShape } from './item-shapes';

const toolType = required(text(), 'The kind of tool.');
const toolName = required(
  functionName,
  'The name of the tool: `a-z`, `A-Z`, `0-9`, `_`, `-`, `.`, `:` and `/`.',
);
const description = optional(text(), 'What the tool does. The model reads it.', 'none');

const toolShape = variants(
  'type',
  {
    function: record({
      type: toolType,
      name: toolName,
      description,
      parameters: optional(
        anyObject(),
        'Its arguments as a JSON Schema, passed to the model unchanged.',
        'no arguments',
      ),
      strict: optional(boolean(), 'Whether the arguments must match the schema exactly.', '`false`'),
    }),
    custom: record({
      type: toolType,
      name: toolName,
      description,
      format: optional(
        variants('type', {
          text: record({ type: required(text(), 'The kind of form: any text.') }),
          grammar: record({
            type: required(text(), 'The kind of form: text of a grammar.'),
            syntax: required(text({ oneOf: ['lark', 'regex'] }), 'The notation of the grammar.'),
            definition: required(text(), 'The grammar. The model reads it; nothing enforces it.'),
          }),
        }),
        'The form of the input.',
        'any text',
      ),
    }),
  },
  hostedToolHints.responses,
);

const choiceType = required(text(), 'Which tool the model must call.');
const chosen = (kind: string) =>
  record({ type: choiceType, name: required(functionName, `The name of the ${kind}, as in \`tools\`.`) });

const toolChoiceShape = textOr(
  variants(
    'type',
    {
      function: chosen('function'),
      custom: chosen('tool'),
      allowed_tools: record({
        type: choiceType,
        mode: required(
          text({ oneOf: ['auto', 'required'] }),
          'Whether the model may call one of the tools, or must.',
        ),
        tools: required(
          list(variants('type', { function: chosen('function'), custom: chosen('tool') }), { minItems: 1 }),
          'The tools that the model may call, of those in `tools`.',
        ),
      }),
    },
    hostedToolHints.responses,
  ),
  text({ oneOf: ['none', 'auto', 'required'] }),
);

const FORMAT = 'The format of the response.';
const formatShape = variants('type', {
  text: record({ type: required(text(), FORMAT) }),
  json_object: record({ type: required(text(), FORMAT) }),
  json_schema: record({
    type: required(text(), FORMAT),
    name: required(formatName, 'The name of the format.'),
    description: optional(text(), 'The purpose of the format. The model reads it.', 'none'),
    schema: required(
      anyObject(),
      'The JSON Schema that the response must match, passed to the model unchanged.',
    ),
    strict: optional(boolean(), 'Whether the response must match the schema exactly.', '`false`'),
  }),
});

const textShape = record({
  format: optional(
    formatShape,
    'The format of the response. JSON cannot be streamed, unless the key allows it.',
    'text',
  ),
  verbosity: optional(
    text({ oneOf: ['low', 'medium', 'high'] }),
    'How long the response should be. A hint: dropped for models that do not support it.',
    AS_THE_MODEL,
  ),
});

const SUMMARIES = ['auto', 'concise', 'detailed'];
const summary = optional(
  text({ oneOf: SUMMARIES }),
  'Without effect: reasoning that the model returns is the summary.',
  'none',
);

const reasoningShape = record({
  effort: optional(
    text(),
    'How much the model reasons: one of its `reasoning.supported_efforts` in the model list.',
    "the model's `reasoning.default_effort`",
  ),
  summary,
  generate_summary: summary,
});

/** Fields that are the same as in a chat completion. */
const same = (name: string): Field => {
  const field = chatFieldsByName.get(name);
  if (!field) throw new Error(`a chat completion has no field ${name}`);
  return field;
};

/** What `include` may name without effect: nothing that the gateway returns has it. */
const OF_HOSTED_TOOLS = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'message.input_image.image_url',
];

/** Every top-level field of POST /v1/responses, in the order of validation. A null means absent. */
export const responsesFields: readonly Field[] = [
  same('model'),
  requiredField(
    'input',
    textOr(list(itemShape, { minItems: 1, maxItems: MAX_MESSAGES })),
    'The conversation so far: a text, or items, oldest first.',
  ),
  honour('instructions', text(), 'Instructions for the model, before the input.', 'none'),
  honour(
    'max_output_tokens',
    outputLength,
    "Maximum tokens of the response, reasoning included. Their cost is held. A value above the model's `max_output_tokens` is lowered to it.",
    "the maximum that the model's limits, its context window and the organization's cap allow",
  ),
  same('stream'),
  accept('stream_options', record({}), 'Has no effect.', 'none'),
  honour(
    'tools',
    list(toolShape, { maxItems: 128, emptyMeansAbsent: true }),
    'Tools that the model may call, for models with the capability `tools`. A custom tool is a function with one text. Empty means none.',
    'none',
  ),
  forward('tool_choice', toolChoiceShape, 'Which tool the model must call.', '`auto` with `tools`'),
  same('parallel_tool_calls'),
  honour('text', textShape, 'The format and the length of the response.', 'text'),
  honour('reasoning', reasoningShape, 'How much the model reasons.', AS_THE_MODEL),
  honour(
    'include',
    list(text({ oneOf: ['reasoning.encrypted_content', ...OF_HOSTED_TOOLS] }), { maxItems: 16 }),
    '`reasoning.encrypted_content` returns what later requests must repeat. The others have no effect.',
    'none',
  ),
  same('temperature'),
  same('top_p'),
  accept('top_logprobs', number({ integer: true, min: 0, max: 0 }), 'Must be 0: use chat completions.', '0'),
  same('prompt_cache_key'),
  same('prompt_cache_retention'),
  same('prompt_cache_options'),
  accept(
    'metadata',
    {
      kind: 'map',
      name: text({ maxLength: 64 }),
      values: text({ maxLength: 512 }),
      maxEntries: 16,
    },
    'Up to 16 texts, which the response repeats. Only those that the organization declared as usage tags are stored.',
    'none',
  ),
  accept(
    'store',
    boolean(),
    'Must not be true: responses are not stored. The response says `false`.',
    '`false`',
  ),
  accept('background', boolean(), 'Must not be true: there are no background responses.', '`false`'),
  accept('truncation', text({ oneOf: ['disabled'] }), 'Input that does not fit is refused.', '`disabled`'),
  accept(
    'user',
    externalUser,
    "Your identifier of the end user. Shown with the generation; not sent to the model's provider.",
    'none',
  ),
  same('safety_identifier'),
  same('service_tier'),
  accept(
    'context_management',
    list(anyObject({ maxCharacters: 65_536 }), { maxItems: 16 }),
    'Has no effect: the conversation is sent as it is.',
    'none',
  ),
  accept('client_metadata', anyObject({ maxCharacters: 65_536 }), 'Has no effect.', 'none'),
  accept(
    'max_tool_calls',
    number({ integer: true, min: 1 }),
    'Has no effect: there are no hosted tools.',
    'none',
  ),
  reject('previous_response_id', "Responses are not stored. Send the whole conversation in 'input'."),
  reject('conversation', "Conversations are not stored. Send the whole conversation in 'input'."),
  reject('prompt', 'Prompts are not stored.'),
  reject('moderation'),
  reject('messages', "Use 'input'."),
  reject('max_tokens', "Use 'max_output_tokens'."),
  reject('max_completion_tokens', "Use 'max_output_tokens'."),
  reject('response_format', "Use 'text.format'."),
  reject('reasoning_effort', "Use 'reasoning.effort'."),
  reject('n', 'A response is one completion.'),
];
