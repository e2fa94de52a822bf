import type { NanoUsd, UnixMs } from '@gateway/base';
import type { Balance } from '@gateway/billing-ledger/core';

/** A deduction of credit. */
export interface Correction {
  readonly correctionId: string;
  readonly organizationId: string;
  /** Above zero. */
  readonly amountNanoUsd: NanoUsd;
  readonly note: string;
}

export type CorrectionOutcome =
  | { readonly kind: 'corrected' }
  /** The available balance would fall below zero. */
  | { readonly kind: 'insufficient' }
  /** There is no preview, or it has expired. */
  | { readonly kind: 'unknown' }
  /** The preview has another amount or note. */
  | { readonly kind: 'different' };

export type CorrectionPreview =
  | { readonly kind: 'previewed'; readonly before: Balance; readonly expires: UnixMs }
  | { readonly kind: 'insufficient'; readonly before: Balance };

/** How long a preview can be confirmed. */
export const PREVIEW_LIFETIME_MS = 10 * 60 * 1_000;
