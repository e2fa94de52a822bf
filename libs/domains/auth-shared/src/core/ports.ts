import type { AdminRefusal } from './admin-refusal';
import type { AuditEntry } from './audit-entry';

/** Makes ids that sort by time, such as `key-01JD…`. */
export type IdSource = (prefix: string) => string;

/** One page of a list, newest first. */
export interface PageRequest {
  readonly size: number;
  /** The last id of the page before. */
  readonly after?: string;
}

/** What a rule makes of the current state, decided while the row is locked. Pure: it may be asked again. */
export type Decision<Value> =
  | { readonly kind: 'change'; readonly value: Value; readonly audit: AuditEntry }
  | { readonly kind: 'keep'; readonly value: Value }
  | AdminRefusal;

export interface Secrets {
  /** At least 256 random bits as URL-safe text. */
  random(): string;
  /** A recovery code: at least 80 random bits, to be typed. */
  randomCode(): string;
  sha256(text: string): Buffer;
}
