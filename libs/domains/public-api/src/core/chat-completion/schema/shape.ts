import type { JsonObject, JsonValue } from '../../json/json-value';

/**
 * Describes a JSON value. Used for validation, for the forwarded copy of the
 * body (only described members are copied) and for the API documentation.
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
  | TextOrShape
  | EitherShape;

export interface TextShape {
  readonly kind: 'text';
  readonly oneOf?: readonly string[];
  /** In UTF-16 code units. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** JSON Schema pattern. Only for texts with a maxLength, which is checked first. */
  readonly pattern?: RegExp;
  /** A rule beyond patterns. Returns the problem, or the text to forward. */
  readonly read?: (text: string) => ReadText;
  /** The rule as a pattern, as far as possible; for the documentation only. */
  readonly checkPattern?: string;
}

export type ReadText = { readonly text: string } | { readonly problem: string };

export interface NumberShape {
  readonly kind: 'number';
  /** A signed 64-bit integer. JavaScript numbers have 53 bits: see `exact-seed.ts`. */
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
  /** Whether an empty array means absent. */
  readonly emptyMeansAbsent?: boolean;
}

/** A member of a record with its documentation, so that rule and documentation cannot drift apart. */
export type Member = RequiredMember | OptionalMember;

export interface RequiredMember {
  readonly required: true;
  readonly shape: Shape;
  /** Its meaning and, for a quantity, its unit. */
  readonly meaning: string;
  readonly nullIs?: NullIs;
}

export interface OptionalMember {
  readonly required: false;
  readonly shape: Shape;
  readonly meaning: string;
  /** The default, which follows "Default: " in the documentation. */
  readonly absent: string;
  readonly nullIs?: NullIs;
  /** The value to forward when it is absent; nothing by default. */
  readonly absentIs?: JsonValue;
}

/** The value of a null in a record; undefined where it means absent, which is the default. */
type NullIs = (record: JsonObject) => JsonValue | undefined;

/** A problem of a record as a whole. `param` is relative to the record. */
interface RecordIssue {
  readonly param: string;
  readonly message: string;
}

/** An object of known members. Other members are accepted and not copied. */
export interface RecordShape {
  readonly kind: 'record';
  readonly members: Readonly<Record<string, Member>>;
  /** Members that would have no effect, with what to send instead. */
  readonly refused?: Readonly<Record<string, string>>;
  /** A rule between members, called with the checked copy. */
  readonly rule?: (record: JsonObject) => RecordIssue | undefined;
}

/** Records distinguished by the text of one member. */
export interface VariantsShape {
  readonly kind: 'variants';
  readonly tag: string;
  readonly variants: ReadonlyMap<string, RecordShape>;
  /** What to use instead of a known but unsupported variant. */
  readonly hints?: ReadonlyMap<string, string>;
  /** The variant of a record without the tag; absent: the tag is required. */
  readonly untagged?: string;
}

/** An object of any names with values of one shape. */
export interface MapShape {
  readonly kind: 'map';
  readonly values: Shape;
  readonly maxEntries: number;
  readonly name: TextShape;
}

/** An object that is forwarded unchanged, such as a JSON Schema. */
export interface AnyObjectShape {
  readonly kind: 'object';
  /** The maximum length of its JSON text. Absent: it counts as input tokens, or is not sent. */
  readonly maxCharacters?: number;
}

/** Any value, forwarded unchanged. */
export interface AnyShape {
  readonly kind: 'any';
}

/** Either a text or another shape. */
export interface TextOrShape {
  readonly kind: 'textOr';
  readonly text: TextShape;
  readonly other: ListShape | RecordShape | VariantsShape | AnyObjectShape;
}

/** One of several shapes, chosen by the type of the value, and in lists by that of the first item. */
export interface EitherShape {
  readonly kind: 'either';
  readonly shapes: readonly (TextShape | NumberShape | ListShape)[];
  /** For the message about another type, such as "a string". */
  readonly expected: string;
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
/** A description for the documentation. */
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
  untagged?: string,
): VariantsShape => ({
  kind: 'variants',
  tag,
  variants: new Map(Object.entries(shapes)),
  hints: new Map(Object.entries(hints)),
  untagged,
});
export const anyObject = (options: Omit<AnyObjectShape, 'kind'> = {}): AnyObjectShape => ({
  kind: 'object',
  ...options,
});
export const any = (): AnyShape => ({ kind: 'any' });
export const either = (expected: string, ...shapes: EitherShape['shapes']): EitherShape => ({
  kind: 'either',
  shapes,
  expected,
});
export const textOr = (other: TextOrShape['other'], textShape: TextShape = text()): TextOrShape => ({
  kind: 'textOr',
  text: textShape,
  other,
});
