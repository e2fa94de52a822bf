import type { JsonObject, JsonValue } from '../../json/json-value';

/**
 * What a JSON value must look like. One description serves validation, the copy
 * of the body that is forwarded (only what is described here is copied) and the
 * API documentation.
 */
export type Shape =
  | TextShape
  | NumberShape
  | BooleanShape
  | ListShape
  | RecordShape
  | VariantsShape
  | MapShape
  | AnyObjectShape
  | AnyShape
  | TextOrShape;

export interface TextShape {
  readonly kind: 'text';
  readonly oneOf?: readonly string[];
  /** In UTF-16 code units. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** JSON Schema pattern. Only for texts with a maxLength, which is checked first. */
  readonly pattern?: RegExp;
  /** A rule that no pattern can say. Answers what is wrong, or the text as it is passed on. */
  readonly read?: (text: string) => ReadText;
  /** As much of that rule as a pattern can say, for the documentation only. */
  readonly checkPattern?: string;
}

export type ReadText = { readonly text: string } | { readonly problem: string };

export interface NumberShape {
  readonly kind: 'number';
  /** A signed integer of 64 bits. JSON numbers keep 53 of them: see `exact-seed.ts`. */
  readonly int64?: boolean;
  readonly integer?: boolean;
  readonly min?: number;
  readonly max?: number;
}

export interface BooleanShape {
  readonly kind: 'boolean';
}

export interface ListShape {
  readonly kind: 'list';
  readonly items: Shape;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Whether an empty array is taken as if the field were absent. */
  readonly emptyMeansAbsent?: boolean;
}

/** A member of a record, with what the documentation says of it: beside the rule, so that they cannot drift. */
export type Member = RequiredMember | OptionalMember;

export interface RequiredMember {
  readonly required: true;
  readonly shape: Shape;
  /** What it means and, of an amount, its unit. */
  readonly meaning: string;
  readonly nullIs?: NullIs;
}

export interface OptionalMember {
  readonly required: false;
  readonly shape: Shape;
  readonly meaning: string;
  /** What holds when it is absent, to follow "Default: ". */
  readonly absent: string;
  readonly nullIs?: NullIs;
  /** What the model is told when it is absent; nothing unless given. */
  readonly absentIs?: JsonValue;
}

/** What a null stands for in a record as it was sent; undefined where it means absent, as it does everywhere else. */
type NullIs = (record: JsonObject) => JsonValue | undefined;

/** What is wrong with a record as a whole. `param` is relative to the record. */
interface RecordFault {
  readonly param: string;
  readonly message: string;
}

/** An object of known members. Others are accepted and left out of the copy. */
export interface RecordShape {
  readonly kind: 'record';
  readonly members: Readonly<Record<string, Member>>;
  /** Members that ask for something that would not happen, with what to send instead. */
  readonly refused?: Readonly<Record<string, string>>;
  /** A rule between members; sees the checked copy. */
  readonly rule?: (record: JsonObject) => RecordFault | undefined;
}

/** Records told apart by the text of one member. */
export interface VariantsShape {
  readonly kind: 'variants';
  readonly tag: string;
  readonly variants: ReadonlyMap<string, RecordShape>;
  /** What to do instead of a variant that is known but not supported. */
  readonly hints?: ReadonlyMap<string, string>;
}

/** An object of any names with values of one shape. */
export interface MapShape {
  readonly kind: 'map';
  readonly values: Shape;
  readonly maxEntries: number;
  readonly name: TextShape;
}

/** An object that is forwarded as it is, such as a JSON Schema. */
export interface AnyObjectShape {
  readonly kind: 'object';
}

/** Any value, forwarded as it is. */
export interface AnyShape {
  readonly kind: 'any';
}

/** Either a text or something else. */
export interface TextOrShape {
  readonly kind: 'textOr';
  readonly text: TextShape;
  readonly other: ListShape | RecordShape | VariantsShape | AnyObjectShape;
}

export const text = (options: Omit<TextShape, 'kind'> = {}): TextShape => ({ kind: 'text', ...options });
export const number = (options: Omit<NumberShape, 'kind'> = {}): NumberShape => ({
  kind: 'number',
  ...options,
});
export const boolean = (): BooleanShape => ({ kind: 'boolean' });
export const list = (items: Shape, options: Omit<ListShape, 'kind' | 'items'> = {}): ListShape => ({
  kind: 'list',
  items,
  ...options,
});
export const required = (
  shape: Shape,
  meaning: string,
  more: Pick<RequiredMember, 'nullIs'> = {},
): RequiredMember => ({ required: true, shape, meaning, ...more });
export const optional = (
  shape: Shape,
  meaning: string,
  absent: string,
  more: Pick<OptionalMember, 'nullIs' | 'absentIs'> = {},
): OptionalMember => ({ required: false, shape, meaning, absent, ...more });
/** A meaning as the documentation has it. */
export const describe = (meaning: string, absent?: string): string =>
  absent === undefined ? meaning : `${meaning} Default: ${absent}.`;
export const record = (
  members: Readonly<Record<string, Member>>,
  rule?: RecordShape['rule'],
  refused?: RecordShape['refused'],
): RecordShape => ({ kind: 'record', members, ...(rule ? { rule } : {}), ...(refused ? { refused } : {}) });
export const variants = (
  tag: string,
  shapes: Readonly<Record<string, RecordShape>>,
  hints: Readonly<Record<string, string>> = {},
): VariantsShape => ({
  kind: 'variants',
  tag,
  variants: new Map(Object.entries(shapes)),
  hints: new Map(Object.entries(hints)),
});
export const anyObject = (): AnyObjectShape => ({ kind: 'object' });
export const any = (): AnyShape => ({ kind: 'any' });
export const textOr = (other: TextOrShape['other'], textShape: TextShape = text()): TextOrShape => ({
  kind: 'textOr',
  text: textShape,
  other,
});
