import type { Refusal } from '@gateway/errors';
import { invalidValue } from '../../chat-completion/rules/field-values';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { hostedToolHints, withoutHostedTools } from '../hosted-tools';
import { byName, extraParameters, named, type ChatRequestFormat } from '../request-format';
import type { RequestedResponse } from '../requested-response';
import { Conversation } from './conversation';
import { customFunction } from './custom-tools';
import { responsesFields } from './fields';
import { repeatedFields } from './output';

const ENCRYPTED = 'reasoning.encrypted_content';
const fieldsByName = byName(responsesFields);

/** OpenAI's Responses API, without anything stored. */
export const responsesRequest: ChatRequestFormat = {
  fields: responsesFields,
  fieldsByName,
  conversation: 'input',
  hasConversation: ({ input }) =>
    (typeof input === 'string' && input !== '') || (Array.isArray(input) && input.length > 0),
  withoutHostedTools: (body) => withoutHostedTools(body, hostedToolHints.responses),
  toChat(copy) {
    const refusal = checkStateless(copy);
    if (refusal) return refusal;
    const { messages, partPaths, refusal: ofMessage } = conversationOf(copy);
    if (ofMessage) return ofMessage;
    return {
      chat: {
        ...extraParameters(copy, fieldsByName),
        ...named(copy, SAME),
        messages,
        ...toolFields(copy),
        ...textFields(copy),
        ...reasoningField(copy),
        ...lengthField(copy),
        ...(copy['stream'] === true ? { stream_options: { include_usage: true } } : {}),
      },
      partPaths,
      response: requestedOf(copy),
    };
  },
  params: new Map([
    ['messages', 'input'],
    ['response_format', 'text.format'],
    ['reasoning_effort', 'reasoning.effort'],
    ['verbosity', 'text.verbosity'],
    ['max_tokens', 'max_output_tokens'],
    ['max_completion_tokens', 'max_output_tokens'],
    ['tool_choice.function.name', 'tool_choice.name'],
  ]),
  imageUrl: '.image_url',
  documentData: '.file_data',
};

/** Fields of a chat completion with the same name and shape. */
const SAME = [
  'model',
  'stream',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'user',
  'safety_identifier',
];

function checkStateless({ store, background }: JsonObject): Refusal | undefined {
  if (store === true) return invalidValue('store', 'responses are not stored. Send false.');
  return background === true
    ? invalidValue('background', 'there are no background responses. Send false.')
    : undefined;
}

function conversationOf({ input, instructions }: JsonObject): Conversation {
  const conversation = new Conversation();
  if (instructions !== undefined)
    conversation.messages.push({ role: 'system', content: instructions as string });
  if (typeof input === 'string') conversation.messages.push({ role: 'user', content: input });
  else
    for (const [index, item] of (input as JsonObject[]).entries()) conversation.add(item, `input[${index}]`);
  conversation.endTurn();
  return conversation;
}

function toolFields({ tools, tool_choice: choice }: JsonObject): JsonObject {
  return {
    ...(tools === undefined ? {} : { tools: (tools as JsonObject[]).map(functionTool) }),
    ...(choice === undefined ? {} : { tool_choice: choiceOf(choice) }),
  };
}

function functionTool(tool: JsonObject): JsonObject {
  const { type, ...definition } = tool;
  return type === 'custom' ? customFunction(tool) : { type: 'function', function: definition };
}

function choiceOf(choice: JsonValue): JsonValue {
  if (typeof choice === 'string') return choice;
  const { type, mode, tools, name } = choice as JsonObject;
  if (type !== 'allowed_tools') return chosenFunction(name);
  const allowed = (tools as JsonObject[]).map((tool) => chosenFunction(tool['name']));
  return { type: 'allowed_tools', allowed_tools: { mode: mode as string, tools: allowed } };
}

function chosenFunction(name: JsonValue | undefined): JsonObject {
  return { type: 'function', function: { name: name as string } };
}

function textFields({ text }: JsonObject): JsonObject {
  const { format, verbosity } = (text ?? {}) as JsonObject;
  return {
    ...(format === undefined ? {} : { response_format: formatOf(format as JsonObject) }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
}

function formatOf({ type, ...schema }: JsonObject): JsonObject {
  return type === 'json_schema' ? { type, json_schema: schema } : { type: type as string };
}

function reasoningField({ reasoning }: JsonObject): JsonObject {
  const effort = (reasoning as JsonObject | undefined)?.['effort'];
  return effort === undefined ? {} : { reasoning_effort: effort };
}

function lengthField({ max_output_tokens: limit }: JsonObject): JsonObject {
  return limit === undefined ? {} : { max_completion_tokens: limit };
}

/** The JSON of a field, such as a schema in `text`: a stream repeats it three times. */
const MAX_ECHOED_CHARACTERS = 16_384;

function requestedOf(copy: JsonObject): RequestedResponse {
  const tools = (copy['tools'] ?? []) as JsonObject[];
  const customTools = tools.filter(({ type }) => type === 'custom').map(({ name }) => name as string);
  const include = (copy['include'] ?? []) as string[];
  const short = repeatedFields.filter((name) => isShort(copy[name]));
  return {
    echo: named(copy, short),
    ...(customTools.length === 0 ? {} : { customTools }),
    ...(include.includes(ENCRYPTED) ? { packsReasoning: true } : {}),
  };
}

function isShort(value: JsonValue | undefined): boolean {
  const canBeLong = typeof value === 'string' || typeof value === 'object';
  return !canBeLong || JSON.stringify(value).length <= MAX_ECHOED_CHARACTERS;
}
