import type {
  CallerPolicy,
  CheckedChatBody,
  FormatName,
  ModelView,
  RefusedChatBody,
} from '@gateway/public-api';

/** To a thread. */
export type ToThread =
  /** The model catalogue for all later checks. */
  { readonly kind: 'models'; readonly models: readonly ModelView[] | undefined } | CheckRequest;

export interface CheckRequest {
  readonly kind: 'check';
  readonly id: number;
  /** The body's bytes, in order. */
  readonly chunks: readonly Uint8Array[];
  readonly policy: CallerPolicy;
  readonly wantsSha256: boolean;
  readonly format: FormatName | undefined;
  readonly dropsHostedTools: boolean | undefined;
}

/** From a thread. */
export type FromThread =
  | { readonly id: number; readonly result: CheckedChatBody | RefusedChatBody }
  /** A bug: the check threw. */
  | { readonly id: number; readonly error: string };

export interface ThreadData {
  /** Texts with more UTF-16 code units are counted by their size, see TokenCounter. */
  readonly maxTextLength: number;
}
