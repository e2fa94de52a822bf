import { normalizeCachePoints } from './cache-points';
import { isUnsigned } from '../formats/packed-reasoning';
import type { JsonObject } from '../json/json-value';
import { supports } from './rules/model-support';
import { isJsonMode } from './rules/json-mode';
import { isExtraParameter } from './rules/unknown-parameter';
import type { CheckedFields, ForwardedFields } from './schema/checked-fields';
import type { Field } from './schema/field';
import { chatFields } from './schema/fields';
import type { ModelView } from './types';

/** Fields that are sent outside the body, or used only here. */
const NOT_IN_BODY: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
]);

/**
 * The body that is sent to the provider: honoured and forwarded fields in the
 * order of the schema, then the model's extra parameters.
 */
export function forwardedBody(
  fields: CheckedFields,
  copy: JsonObject,
  model: ModelView,
): JsonObject & ForwardedFields {
  const body: JsonObject = {};
  for (const field of chatFields) {
    const value = copy[field.name];
    if (value === undefined || !isForwarded(field, fields, model)) continue;
    body[field.name] = field.name === 'messages' ? forwardedMessages(value as JsonObject[], model) : value;
  }
  const { messages, tools } = normalizeCachePoints(
    { messages: body['messages'] as JsonObject[], tools: body['tools'] as JsonObject[] | undefined },
    model,
  );
  body['messages'] = messages as JsonObject[];
  if (tools !== undefined) body['tools'] = tools as JsonObject[];
  for (const name of model.extraParameters) {
    const value = Object.hasOwn(copy, name) ? copy[name] : undefined;
    if (value !== undefined && isExtraParameter(name, model)) body[name] = value;
  }
  // A subset of the validated copy.
  return body as JsonObject & ForwardedFields;
}

const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

function forwardedMessages(messages: JsonObject[], model: ModelView): JsonObject[] {
  return messages.map((message) =>
    REASONING.some((name) => message[name] !== undefined) ? forwardedTurn(message, model) : message,
  );
}

/** Removes reasoning of earlier turns for models that do not accept it, and that which no model needs. */
function forwardedTurn(message: JsonObject, { forwardReasoningContent }: ModelView): JsonObject {
  const { reasoning_content: content, reasoning: alias, reasoning_details: details, ...rest } = message;
  const text = content ?? alias;
  const kept = Array.isArray(details) ? details.filter((detail) => !isUnsigned(detail as JsonObject)) : [];
  return {
    ...rest,
    ...(text !== undefined && forwardReasoningContent ? { reasoning_content: text } : {}),
    ...(kept.length === 0 ? {} : { reasoning_details: kept }),
  };
}

function isForwarded(field: Field, fields: CheckedFields, model: ModelView): boolean {
  if (field.disposition === 'accept' || NOT_IN_BODY.has(field.name) || !supports(model, field)) return false;
  switch (field.name) {
    case 'tools':
    case 'tool_choice':
    case 'parallel_tool_calls':
      // Providers reject these fields without tools.
      return fields.tools !== undefined;
    case 'response_format':
      return isJsonMode(fields);
    case 'top_logprobs':
      // Providers reject even 0 without `logprobs`.
      return fields.logprobs === true;
    default:
      return true;
  }
}
