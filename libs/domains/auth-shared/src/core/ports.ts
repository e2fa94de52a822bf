import type { AdminRefusal } from './admin-refusal';
import type { AuditEntry } from './audit-entry';

/** Creates ids that sort by time, such as `key-01JD…`. */
export type IdSource = (prefix: string) => string;

/** One page of a list, newest first. */
export interface PageRequest {
  readonly size: number;
  /** The last id of the previous page. */
  readonly after?: string;
}

/** A rule's decision on the current state, made while the row is locked. The rule is pure and may run again. */
export type Decision<Value> =
  | { readonly kind: 'change'; readonly value: Value; readonly audit: AuditEntry }
  | { readonly kind: 'unchanged'; readonly value: Value }
  | AdminRefusal;

export interface Secrets {
  /** At least 256 random bits as URL-safe text. */
  random(): string;
  /** A recovery code: at least 80 random bits in a form that is easy to type. */
  randomCode(): string;
  sha256(text: string): Buffer;
}
