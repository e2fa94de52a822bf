import {
  outputLength,
  externalUser,
  functionName,
  stopSequence,
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
import { MAX_MESSAGES } from '../../chat-completion/schema/message-shape';
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
} from '../../chat-completion/schema/shape';
import { hostedToolHints } from '../hosted-tools';
import { cache_control, messageShape, textBlock } from './block-shapes';

const toolMembers = {
  type: optional(text(), 'The kind of tool.', '`custom`'),
  name: required(functionName, 'The name of the tool: `a-z`, `A-Z`, `0-9`, `_`, `-`, `.`, `:` and `/`.'),
  description: optional(text(), 'What the tool does. The model reads it.', 'none'),
  input_schema: required(anyObject(), 'Its arguments as a JSON Schema, passed to the model unchanged.'),
  strict: optional(boolean(), 'Whether the arguments must match the schema exactly.', '`false`'),
  cache_control,
};

const CLIENT_TOOL = "Tools that Anthropic defines are not supported. Define the tool with 'input_schema'.";

const toolShape = variants(
  'type',
  { custom: record(toolMembers) },
  {
    ...hostedToolHints.messages,
    bash_20250124: CLIENT_TOOL,
    text_editor_20250124: CLIENT_TOOL,
    text_editor_20250429: CLIENT_TOOL,
    text_editor_20250728: CLIENT_TOOL,
    memory_20250818: CLIENT_TOOL,
    computer_20250124: CLIENT_TOOL,
    computer_20251124: CLIENT_TOOL,
    computer_toolset_20260801: CLIENT_TOOL,
    browser_toolset_20260801: CLIENT_TOOL,
  },
  'custom',
);

const choiceType = required(text(), 'Which tool the model must call.');
const disable_parallel_tool_use = optional(
  boolean(),
  'Whether the model calls at most one tool in a turn. A hint: without effect on models that do not support it.',
  '`false`',
);

const toolChoiceShape = variants('type', {
  auto: record({ type: choiceType, disable_parallel_tool_use }),
  any: record({ type: choiceType, disable_parallel_tool_use }),
  tool: record({
    type: choiceType,
    name: required(functionName, 'The name of the tool, as in `tools`.'),
    disable_parallel_tool_use,
  }),
  none: record({ type: choiceType }),
});

const thinkingType = required(text(), 'Whether the model thinks before it responds.');
const display = optional(
  text({ oneOf: ['summarized', 'omitted'] }),
  'Without effect: thinking that the model returns is part of the response.',
  '`summarized`',
);

const thinkingShape = variants('type', {
  enabled: record({
    type: thinkingType,
    budget_tokens: required(
      number({ integer: true, min: 1_024, max: Number.MAX_SAFE_INTEGER }),
      'Tokens for thinking: below 4,096 the effort `low`, below 16,384 `medium`, else `high`.',
    ),
    display,
  }),
  adaptive: record({ type: thinkingType, display }),
  between_tools: record({ type: thinkingType }),
  disabled: record({ type: thinkingType }),
});

const formatShape = variants('type', {
  json_schema: record({
    type: required(text(), 'The kind of format.'),
    schema: required(anyObject(), 'The JSON Schema that the response must match.'),
  }),
});

const outputConfigShape = record({
  effort: optional(
    text({ oneOf: ['low', 'medium', 'high', 'xhigh', 'max'] }),
    'How much the model reasons: the nearest level that it accepts. Without effect on models without reasoning.',
    'as `thinking`',
  ),
  format: optional(
    formatShape,
    'The format of the response. It cannot be streamed, unless the key allows it.',
    'text',
  ),
});

/** A field of a beta that changes only how the vendor handles the request. */
const hint = (name: string, doc: string): Field =>
  accept(name, anyObject({ maxCharacters: 65_536 }), doc, 'none');

/** Every top-level field of POST /v1/messages, in the order of validation. A null means absent. */
export const messagesFields: readonly Field[] = [
  requiredField('model', text({ minLength: 1 }), 'The id of a model, as in the model list.'),
  requiredField(
    'messages',
    list(messageShape, { minItems: 1, maxItems: MAX_MESSAGES }),
    'The conversation so far, oldest message first.',
  ),
  honour(
    'max_tokens',
    outputLength,
    "Maximum tokens of the response, thinking included. Their cost is held. A value above the model's `max_output_tokens` is lowered to it.",
    "the maximum that the model's limits, its context window and the organization's cap allow",
  ),
  honour('system', textOr(list(textBlock)), 'Instructions for the model: a text, or blocks of text.', 'none'),
  honour('stream', boolean(), 'Whether the response is streamed as server-sent events.', '`false`'),
  honour(
    'tools',
    list(toolShape, { maxItems: 128, emptyMeansAbsent: true }),
    'Tools that the model may call, for models with the capability `tools`. Empty means none.',
    'none',
  ),
  forward('tool_choice', toolChoiceShape, 'Which tool the model must call.', '`auto` with `tools`'),
  honour(
    'thinking',
    thinkingShape,
    'Whether and how much the model thinks. Without effect on models without reasoning.',
    AS_THE_MODEL,
  ),
  honour('output_config', outputConfigShape, 'The effort and the format of the response.', 'none'),
  honour('output_format', formatShape, 'The same as `output_config.format`.', 'as `output_config`'),
  forward('temperature', number({ min: 0, max: 1 }), 'Randomness of the sampling.', AS_THE_MODEL),
  forward('top_p', number({ min: 0, max: 1 }), 'Nucleus sampling.', AS_THE_MODEL),
  forward(
    'top_k',
    number({ integer: true, min: 0, max: Number.MAX_SAFE_INTEGER }),
    'Samples from the most likely tokens only. Without effect on models that do not list `top_k` in `supported_parameters`.',
    AS_THE_MODEL,
  ),
  forward(
    'stop_sequences',
    list(stopSequence, { maxItems: 4, emptyMeansAbsent: true }),
    'Up to four sequences that end the response. They are not included in it.',
    'none',
  ),
  forward(
    'cache_control',
    cache_control.shape,
    'A cache point at the end of the conversation, unless it has one there.',
    'none',
  ),
  accept(
    'metadata',
    record({
      user_id: optional(
        externalUser,
        "Your identifier of the end user. Shown with the generation; not sent to the model's provider.",
        'none',
      ),
    }),
    'The end user. Other entries are accepted: those that the organization declared as usage tags are stored with the generation, the others have no effect.',
    'none',
  ),
  accept(
    'service_tier',
    text({ oneOf: ['auto', 'standard_only'] }),
    'Has no effect: there is one tier.',
    '`auto`',
  ),
  accept('speed', text({ oneOf: ['standard'] }), 'Has no effect: there is one speed.', '`standard`'),
  hint('context_management', 'Has no effect: the conversation is sent as it is.'),
  hint('diagnostics', 'Has no effect.'),
  accept(
    'mcp_servers',
    list(any(), { maxItems: 0, emptyMeansAbsent: true }),
    'Must be empty: MCP servers are not supported.',
    'none',
  ),
  reject('container', 'Containers are not supported.'),
  reject('inference_geo', 'The gateway chooses where a model runs.'),
  reject('compaction', 'Compaction is not supported.'),
  reject('fallbacks', "Name one model in 'model'."),
  reject('fallback_credit_token'),
  reject('billing_policy'),
  reject('thread', 'The gateway stores no conversations.'),
  reject('user_profile_id', "Use 'metadata.user_id'."),
  reject('workspace_id', 'The workspace is that of the API key.'),
  reject('betas', "It is an option of client libraries, which send it as the header 'anthropic-beta'."),
  reject('stop', "Use 'stop_sequences'."),
  reject('reasoning_effort', "Use 'output_config.effort'."),
  reject('response_format', "Use 'output_config.format'."),
];
