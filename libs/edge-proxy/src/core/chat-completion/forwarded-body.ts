import type { JsonObject } from '../json/json-value';
import { supports } from './rules/model-support';
import { isJsonMode } from './rules/json-mode';
import type { CheckedFields } from './schema/checked-fields';
import { chatFields, chatFieldsByName, type Field } from './schema/fields';
import type { ModelView } from './types';

/** Honoured fields that travel beside the body or have done their duty here. */
const CARRIED_ELSEWHERE: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
]);

/**
 * What the model gets to see: honoured and forwarded fields in the order of the
 * schema, then the model's extra parameters.
 */
export function forwardedBody(fields: CheckedFields, copy: JsonObject, model: ModelView): JsonObject {
  const body: JsonObject = {};
  for (const field of chatFields) {
    const value = copy[field.name];
    if (value !== undefined && isForwarded(field, fields, model)) body[field.name] = value;
  }
  for (const name of model.extraParameters) {
    const value = copy[name];
    const known = chatFieldsByName.get(name);
    if (value !== undefined && (known === undefined || known.disposition === 'reject')) body[name] = value;
  }
  return body;
}

function isForwarded(field: Field, fields: CheckedFields, model: ModelView): boolean {
  if (field.disposition === 'accept' || CARRIED_ELSEWHERE.has(field.name) || !supports(model, field))
    return false;
  switch (field.name) {
    case 'tools':
    case 'tool_choice':
    case 'parallel_tool_calls':
      // Providers refuse an empty list, and a choice between no tools.
      return (fields.tools ?? []).length > 0;
    case 'response_format':
      return isJsonMode(fields);
    default:
      return true;
  }
}
