import { unreachable } from '@gateway/base';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/json-value';
import type {
  AnyObjectShape,
  ListShape,
  MapShape,
  Member,
  NumberShape,
  RecordShape,
  Shape,
  TextShape,
  VariantsShape,
} from './shape';

/** The number nearest to the largest signed 64-bit integer. */
const MAX_INT64 = 2 ** 63;

/** The first problem of a value, in the order of its shape. */
export class Issue {
  constructor(
    /** Relative to the checked value: "", "[0].content", ".name". */
    readonly path: string,
    /** A sentence that follows "Invalid value for 'path': ". */
    readonly problem: string,
  ) {}

  within(segment: string): Issue {
    return new Issue(segment + this.path, this.problem);
  }
}

/**
 * Checks a value in the order of the shape, lowest index first, and copies the
 * members of the shape. A null means absent where a member is optional.
 *
 * @returns the copy, or the first issue.
 */
export function checkShape(shape: Shape, value: JsonValue): JsonValue | Issue {
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string' ? checkText(shape, value) : wrongType('a string', value);
    case 'number':
      return typeof value === 'number' ? checkNumber(shape, value) : wrongType(numberName(shape), value);
    case 'boolean':
      return typeof value === 'boolean' ? value : wrongType('a boolean', value);
    case 'list':
      return Array.isArray(value) ? checkList(shape, value) : wrongType('an array', value);
    case 'record':
      return isJsonObject(value) ? checkRecord(shape, value) : wrongType('an object', value);
    case 'variants':
      return isJsonObject(value) ? checkVariants(shape, value) : wrongType('an object', value);
    case 'map':
      return isJsonObject(value) ? checkMap(shape, value) : wrongType('an object', value);
    case 'object':
      return isJsonObject(value) ? checkObject(shape, value) : wrongType('an object', value);
    case 'any':
      return value;
    case 'textOr':
      if (typeof value === 'string') return checkText(shape.text, value);
      if (shape.other.kind === 'list' ? Array.isArray(value) : isJsonObject(value)) {
        return checkShape(shape.other, value);
      }
      return wrongType(shape.other.kind === 'list' ? 'a string or an array' : 'a string or an object', value);
    case 'either': {
      const chosen = shape.shapes.find((each) => suits(each, value));
      return chosen === undefined ? wrongType(shape.expected, value) : checkShape(chosen, value);
    }
    default:
      return unreachable(shape);
  }
}

/** Whether a value has the type of a shape; a list that of its first item. */
function suits(shape: Shape, value: JsonValue | undefined): boolean {
  if (shape.kind === 'text') return typeof value === 'string';
  if (shape.kind === 'number') return typeof value === 'number';
  return (
    shape.kind === 'list' && Array.isArray(value) && (value.length === 0 || suits(shape.items, value[0]))
  );
}

function checkText(shape: TextShape, value: string): string | Issue {
  if (shape.oneOf && !shape.oneOf.includes(value)) {
    return new Issue('', `supported values are ${quotedList(shape.oneOf)}.`);
  }
  if (shape.minLength !== undefined && value.length < shape.minLength) {
    return new Issue(
      '',
      shape.minLength === 1 ? 'it is empty.' : `it is shorter than ${shape.minLength} characters.`,
    );
  }
  if (shape.maxLength !== undefined && value.length > shape.maxLength) {
    return new Issue('', `it is longer than ${shape.maxLength} characters.`);
  }
  if (shape.pattern && !shape.pattern.test(value)) {
    return new Issue('', `it does not match ${shape.pattern.source}.`);
  }
  if (!shape.read) return value;
  const read = shape.read(value);
  return 'problem' in read ? new Issue('', read.problem) : read.text;
}

function checkNumber(shape: NumberShape, value: number): number | Issue {
  if (!Number.isFinite(value)) return new Issue('', 'the number is too large.');
  if ((shape.integer || shape.int64) && !Number.isInteger(value)) return wrongType('an integer', value);
  if (shape.int64 && Math.abs(value) > MAX_INT64) return new Issue('', 'it must fit in 64 bits.');
  if (shape.min !== undefined && value < shape.min) return new Issue('', `it must be at least ${shape.min}.`);
  if (shape.max !== undefined && value > shape.max) return new Issue('', `it must be at most ${shape.max}.`);
  return value;
}

function checkList(shape: ListShape, value: JsonValue[]): JsonValue[] | Issue {
  if (shape.minItems !== undefined && value.length < shape.minItems) {
    return new Issue(
      '',
      shape.minItems === 1 ? 'the array is empty.' : `it must have at least ${shape.minItems} items.`,
    );
  }
  if (shape.maxItems !== undefined && value.length > shape.maxItems) {
    return new Issue('', `it may have at most ${shape.maxItems} items.`);
  }
  const copy: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const item = checkShape(shape.items, value[index] ?? null);
    if (item instanceof Issue) return item.within(`[${index}]`);
    copy.push(item);
  }
  return copy;
}

function checkRecord(shape: RecordShape, value: JsonObject): JsonObject | Issue {
  const copy: JsonObject = {};
  for (const name in shape.members) {
    const member = shape.members[name];
    if (member === undefined) continue;
    const given = memberValue(member, name, value);
    if (given === undefined) {
      if (member.required) return new Issue(`.${name}`, 'it is required.');
      continue;
    }
    const checked = checkShape(member.shape, given);
    if (checked instanceof Issue) return checked.within(`.${name}`);
    if (!isAbsent(member.shape, checked)) copy[name] = checked;
  }
  for (const name in shape.refused) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given !== undefined && given !== null) return new Issue(`.${name}`, shape.refused[name] ?? '');
  }
  const issue = shape.rule?.(copy);
  return issue === undefined ? copy : new Issue(`.${issue.param}`, issue.message);
}

/** The value of a member, or its default. */
function memberValue(member: Member, name: string, record: JsonObject): JsonValue | undefined {
  const given = Object.hasOwn(record, name) ? record[name] : undefined;
  if (given !== undefined && given !== null) return given;
  const nullValue = given === null ? member.nullIs?.(record) : undefined;
  return nullValue ?? (member.required ? undefined : member.absentIs);
}

/** Whether a checked value means the same as its absence. */
export function isAbsent(shape: Shape, checked: JsonValue): boolean {
  if (shape.kind === 'textOr') return Array.isArray(checked) && isAbsent(shape.other, checked);
  return shape.kind === 'list' && shape.emptyMeansAbsent === true && (checked as JsonValue[]).length === 0;
}

function checkVariants(shape: VariantsShape, value: JsonObject): JsonObject | Issue {
  const given = Object.hasOwn(value, shape.tag) ? value[shape.tag] : undefined;
  const tag = given ?? shape.untagged;
  if (tag === undefined) return new Issue(`.${shape.tag}`, 'it is required.');
  if (typeof tag !== 'string') return wrongType('a string', tag).within(`.${shape.tag}`);
  const variant = shape.variants.get(tag);
  if (variant) return checkRecord(variant, value);
  const hint = shape.hints?.get(tag);
  const problem = `supported values are ${quotedList([...shape.variants.keys()])}.`;
  return new Issue(`.${shape.tag}`, hint === undefined ? problem : `${problem} ${hint}`);
}

function checkMap(shape: MapShape, value: JsonObject): JsonObject | Issue {
  const names = Object.keys(value);
  if (names.length > shape.maxEntries) {
    return new Issue('', `it may have at most ${shape.maxEntries} entries.`);
  }
  const entries: [string, JsonValue][] = [];
  for (const name of names) {
    const checkedName = checkText(shape.name, name);
    if (checkedName instanceof Issue)
      return new Issue('', `one of its names is invalid: ${checkedName.problem}`);
    const checked = checkShape(shape.values, value[name] ?? null);
    if (checked instanceof Issue) return checked.within(`.${name}`);
    entries.push([name, checked]);
  }
  // Unlike assignment, fromEntries treats `__proto__` as an ordinary name.
  return Object.fromEntries(entries);
}

function checkObject({ maxCharacters }: AnyObjectShape, value: JsonObject): JsonObject | Issue {
  if (maxCharacters === undefined || JSON.stringify(value).length <= maxCharacters) return value;
  return new Issue('', `its JSON is longer than ${maxCharacters} characters.`);
}

function wrongType(expected: string, value: JsonValue): Issue {
  return new Issue('', `expected ${expected}, but got ${typeName(value)} instead.`);
}

function numberName(shape: NumberShape): string {
  return shape.integer || shape.int64 ? 'an integer' : 'a number';
}

function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function quotedList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}
