import { isRefusal } from '@gateway/errors';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { hostedToolHints, withoutHostedTools } from '../hosted-tools';
import { byName, extraParameters, named, type ChatRequestFormat } from '../request-format';
import { Conversation, textPart } from './conversation';
import { effortOf } from './effort';
import { messagesFields } from './fields';

const fieldsByName = byName(messagesFields);

/** Anthropic's Messages API. */
export const messagesRequest: ChatRequestFormat = {
  fields: messagesFields,
  fieldsByName,
  conversation: 'messages',
  hasConversation: ({ messages }) => Array.isArray(messages) && messages.length > 0,
  withoutHostedTools: (body) => withoutHostedTools(body, hostedToolHints.messages),
  toChat(copy, model) {
    const conversation = new Conversation();
    const { system } = copy;
    if (system !== undefined) conversation.messages.push({ role: 'system', content: systemContent(system) });
    for (const [index, message] of (copy['messages'] as JsonObject[]).entries()) {
      const refusal = conversation.add(message, `messages[${index}]`);
      if (isRefusal(refusal)) return refusal;
    }
    const { messages, partPaths } = conversation;
    const { stop_sequences: stop } = copy;
    return {
      chat: {
        ...extraParameters(copy, fieldsByName),
        ...named(copy, ['model', 'max_tokens', 'stream', 'temperature', 'top_p']),
        messages: withLastPoint(messages, copy['cache_control']),
        ...toolFields(copy),
        ...reasoningField(copy, model),
        ...formatField(copy),
        ...(stop === undefined ? {} : { stop }),
        ...(copy['stream'] === true ? { stream_options: { include_usage: true } } : {}),
        ...(model?.extraParameters.includes('top_k') ? named(copy, ['top_k']) : {}),
        ...userField(copy),
      },
      partPaths,
      response: stop === undefined ? {} : { stopSequences: stop as string[] },
    };
  },
  params: new Map([
    ['stop', 'stop_sequences'],
    ['response_format', 'output_config.format'],
    ['reasoning_effort', 'thinking'],
    ['tool_choice.function.name', 'tool_choice.name'],
    ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
    ['messages', 'messages'],
  ]),
  imageUrl: '.source',
  documentData: '.source.data',
};

function systemContent(system: JsonValue): JsonValue {
  if (typeof system === 'string') return system;
  return (system as JsonObject[]).length === 0 ? '' : (system as JsonObject[]).map(textPart);
}

/** Moves the point of the request to the end of the conversation. */
function withLastPoint(messages: JsonObject[], point: JsonValue | undefined): JsonObject[] {
  const last = messages.at(-1);
  if (point === undefined || last === undefined || last['cache_control'] !== undefined) return messages;
  return [...messages.slice(0, -1), { ...last, cache_control: point }];
}

function toolFields({ tools, tool_choice: choice }: JsonObject): JsonObject {
  const { type, name, disable_parallel_tool_use: isSequential } = (choice ?? {}) as JsonObject;
  return {
    ...(tools === undefined ? {} : { tools: (tools as JsonObject[]).map(functionTool) }),
    ...(choice === undefined ? {} : { tool_choice: choiceOf(type as string, name as string) }),
    ...(isSequential === true && tools !== undefined ? { parallel_tool_calls: false } : {}),
  };
}

function functionTool({ name, description, input_schema, strict, cache_control }: JsonObject): JsonObject {
  const described = {
    name: name as string,
    ...(description === undefined ? {} : { description }),
    parameters: input_schema as JsonObject,
    ...(strict === undefined ? {} : { strict }),
  };
  return {
    type: 'function',
    function: described,
    ...(cache_control === undefined ? {} : { cache_control }),
  };
}

function choiceOf(type: string, name: string): JsonValue {
  switch (type) {
    case 'tool':
      return { type: 'function', function: { name } };
    case 'any':
      return 'required';
    default:
      return type;
  }
}

function reasoningField(
  { thinking, output_config: config }: JsonObject,
  model: Parameters<ChatRequestFormat['toChat']>[1],
): JsonObject {
  const effort = (config as JsonObject | undefined)?.['effort'] as string | undefined;
  const level = effortOf(thinking as JsonObject | undefined, effort, model);
  return level === undefined ? {} : { reasoning_effort: level };
}

function formatField({ output_config: config, output_format: alias }: JsonObject): JsonObject {
  const format = ((config as JsonObject | undefined)?.['format'] ?? alias) as JsonObject | undefined;
  if (format === undefined) return {};
  const { schema } = format as { schema: JsonObject };
  return {
    response_format: { type: 'json_schema', json_schema: { name: 'response', schema, strict: true } },
  };
}

function userField({ metadata }: JsonObject): JsonObject {
  const id = (metadata as JsonObject | undefined)?.['user_id'];
  return id === undefined ? {} : { user: id };
}
