import type { Refusal } from '@gateway/errors';
import type { CallerPolicy, CheckedChatBody, ModelView } from '@gateway/public-api';

/** To a thread. */
export type ToThread =
  /** The model catalogue of all checks that follow. */
  { readonly kind: 'models'; readonly models: readonly ModelView[] | undefined } | CheckOrder;

export interface CheckOrder {
  readonly kind: 'check';
  readonly id: number;
  /** The body's bytes, in order. */
  readonly pieces: readonly Uint8Array[];
  readonly policy: CallerPolicy;
  readonly wantsSha256: boolean;
}

/** From a thread. */
export type FromThread =
  | { readonly id: number; readonly result: CheckedChatBody | Refusal }
  /** A bug: the check threw. */
  | { readonly id: number; readonly error: string };

export interface ThreadData {
  /** UTF-16 code units of text beyond which its size is enough, see TokenCounter. */
  readonly maxTextLength: number;
}
