import { refuse, type Refusal } from '@gateway/errors';
import type { RequestFormat } from '../../formats/request-format';
import type { JsonObject } from '../../json/json-value';
import { checkShape, Issue, isAbsent } from '../schema/check-shape';
import type { CheckedFields } from '../schema/checked-fields';
import type { ModelView } from '../types';
import { isExtraParameter } from './unknown-parameter';

/**
 * invalid_request for a value of the wrong type or range: the first in the order
 * of the schema, in arrays the lowest index.
 *
 * @returns the validated copy, with the fields of the schema and the model's extra parameters.
 */
export function readFields(
  body: JsonObject,
  model: ModelView | undefined,
  { fields, fieldsByName }: Pick<RequestFormat, 'fields' | 'fieldsByName'>,
): JsonObject | Refusal {
  const copy: JsonObject = {};
  for (const field of fields) {
    if (!Object.hasOwn(body, field.name)) continue;
    const value = body[field.name];
    if (value === undefined || value === null || field.disposition === 'reject') continue;
    const checked = checkShape(field.shape, value);
    if (checked instanceof Issue) return invalidValue(field.name + checked.path, checked.problem);
    if (!isAbsent(field.shape, checked)) copy[field.name] = checked;
  }
  for (const name of model?.extraParameters ?? []) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (value !== undefined && value !== null && isExtraParameter(name, model, fieldsByName))
      copy[name] = value;
  }
  return copy;
}

export function invalidValue(param: string, problem: string): Refusal {
  return refuse('invalid_request', { message: `Invalid value for '${param}': ${problem}`, param });
}

/** The schema checks the parsed number: 2^63 passes, since it is the nearest number to 2^63 - 1. */
function checkExactSeed(seed: bigint | undefined): Refusal | undefined {
  return seed === undefined || BigInt.asIntN(64, seed) === seed
    ? undefined
    : invalidValue('seed', 'it must fit in 64 bits.');
}

/**
 * invalid_request for fields that contradict each other.
 *
 * @param exactSeed - see readExactSeed.
 */
export function checkBetweenFields(fields: CheckedFields, exactSeed?: bigint): Refusal | undefined {
  return (
    checkExactSeed(exactSeed) ??
    checkOneOutputLength(fields) ??
    checkToolChoice(fields) ??
    checkTopLogprobs(fields)
  );
}

function checkOneOutputLength(fields: CheckedFields): Refusal | undefined {
  const { max_tokens: first, max_completion_tokens: second } = fields;
  return first !== undefined && second !== undefined && first !== second
    ? invalidValue('max_completion_tokens', "it differs from 'max_tokens'. Send only one of them.")
    : undefined;
}

const NOT_DEFINED = "none of the 'tools' has this name.";

function checkToolChoice({ tools, tool_choice: choice }: CheckedFields): Refusal | undefined {
  if (choice === undefined || choice === 'auto' || choice === 'none') return undefined;
  if (tools === undefined) return invalidValue('tool_choice', "it requires 'tools'.");
  if (typeof choice === 'string') return undefined;
  const isDefined = (name: string) => tools.some((tool) => tool.function.name === name);
  if (choice.type === 'function')
    return isDefined(choice.function.name)
      ? undefined
      : invalidValue('tool_choice.function.name', NOT_DEFINED);
  const missing = choice.allowed_tools.tools.findIndex(({ function: allowed }) => !isDefined(allowed.name));
  return missing === -1
    ? undefined
    : invalidValue(`tool_choice.allowed_tools.tools[${missing}].function.name`, NOT_DEFINED);
}

function checkTopLogprobs(fields: CheckedFields): Refusal | undefined {
  return fields.top_logprobs !== undefined && fields.top_logprobs > 0 && fields.logprobs !== true
    ? invalidValue('top_logprobs', "it requires 'logprobs' to be true.")
    : undefined;
}
