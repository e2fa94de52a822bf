import { refuse, type Refusal } from '@gateway/errors';
import type { RequestFormat } from '../../formats/request-format';
import type { JsonObject } from '../../json/json-value';
import { chatFieldsByName } from '../schema/fields';
import type { ModelView } from '../types';

/** Maximum characters of a name in an error message. */
const MAX_NAMED_CHARACTERS = 256;

/**
 * unknown_parameter: the alphabetically first field that is not accepted. A null
 * counts as absent for fields of the schema only. The extra parameters of an
 * enabled model are accepted for that model.
 */
export function checkParametersKnown(
  body: JsonObject,
  model: ModelView | undefined,
  { fieldsByName }: Pick<RequestFormat, 'fieldsByName'>,
): Refusal | undefined {
  let first: string | undefined;
  for (const name of Object.keys(body)) {
    if (isAccepted(name, body, model, fieldsByName)) continue;
    if (first === undefined || name < first) first = name;
  }
  if (first === undefined) return undefined;
  const shown = first.slice(0, MAX_NAMED_CHARACTERS);
  const hint = fieldsByName.get(first)?.hint;
  return refuse('unknown_parameter', {
    message: `Unknown parameter: '${shown}'.${hint === undefined ? '' : ` ${hint}`}`,
    param: shown,
  });
}

type Fields = RequestFormat['fieldsByName'];

function isAccepted(name: string, body: JsonObject, model: ModelView | undefined, fields: Fields): boolean {
  const field = fields.get(name);
  if (field && (field.disposition !== 'reject' || body[name] === null)) return true;
  return isExtraParameter(name, model, fields);
}

/** Whether the name is outside the schema, but an extra parameter of the model. */
export function isExtraParameter(
  name: string,
  model: ModelView | undefined,
  fields: Fields = chatFieldsByName,
): boolean {
  if (model === undefined || model.extraParameters.length === 0 || name === '__proto__') return false;
  return isOutside(name, fields) && isOutside(name, chatFieldsByName) && model.extraParameters.includes(name);
}

function isOutside(name: string, fields: Fields): boolean {
  const field = fields.get(name);
  return field === undefined || field.disposition === 'reject';
}
