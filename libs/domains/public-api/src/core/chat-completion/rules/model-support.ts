import type { Capability } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';
import type { JsonObject } from '../../json/json-value';
import type { CheckedFields } from '../schema/checked-fields';
import type { Field } from '../schema/field';
import { chatFields } from '../schema/fields';
import type { ModelView } from '../types';

/** tools_not_supported: tools for a model that cannot call any. */
export function checkTools({ tools }: CheckedFields, model: ModelView): Refusal | undefined {
  return tools === undefined || hasCapability(model, 'tools')
    ? undefined
    : refuse('tools_not_supported', {
        message: `The model '${model.id}' cannot call tools.`,
        param: 'tools',
      });
}

/** reasoning_effort_not_supported: a level that the model does not accept. A model without reasoning accepts `none`. */
export function checkReasoningEffort(
  { reasoning_effort: effort }: CheckedFields,
  model: ModelView,
): Refusal | undefined {
  const accepted = model.reasoningEfforts;
  if (effort === undefined || accepted.includes(effort) || isOffAnyway(effort, model)) return undefined;
  return refuse('reasoning_effort_not_supported', {
    message:
      accepted.length === 0
        ? `The model '${model.id}' does not accept reasoning_effort.`
        : `The model '${model.id}' does not accept this reasoning_effort. Accepted levels: ${accepted.join(', ')}.`,
    param: 'reasoning_effort',
    metadata: { accepted },
  });
}

/** Whether the request turns off the reasoning of a model without it, so that the field is not sent. */
function isOffAnyway(effort: string | undefined, model: ModelView): boolean {
  return effort === 'none' && !hasCapability(model, 'reasoning');
}

/** invalid_request: the first field of the schema that the model lacks the capability for. */
export function checkFieldSupport(copy: JsonObject, model: ModelView): Refusal | undefined {
  const field = chatFields.find(
    (each) => each.ifUnsupported === 'refuse' && hasEffect(each, copy) && !supports(model, each),
  );
  return (
    field &&
    refuse('invalid_request', {
      message: `The model '${model.id}' does not support '${field.name}'.`,
      param: field.name,
    })
  );
}

export function supports(model: ModelView, field: Field): boolean {
  return field.capability === undefined || hasCapability(model, field.capability);
}

export function hasCapability({ capabilities }: ModelView, capability: Capability): boolean {
  return capabilities.includes(capability);
}

/** Some clients send a value that means "off", which every model supports. */
function hasEffect(field: Field, copy: JsonObject): boolean {
  const value = copy[field.name];
  if (value === undefined) return false;
  switch (field.name) {
    case 'logprobs':
      return value !== false;
    case 'top_logprobs':
      return value !== 0;
    case 'logit_bias':
      return Object.keys(value as JsonObject).length > 0;
    default:
      return true;
  }
}
