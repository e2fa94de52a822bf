import type { NanoUsd, UnixMs } from '@gateway/base';
import type { Balance } from '@gateway/billing-ledger/core';

/** Credit that is taken back. */
export interface Correction {
  readonly correctionId: string;
  readonly organizationId: string;
  /** Above zero. */
  readonly amountNanoUsd: NanoUsd;
  readonly note: string;
}

export type CorrectionOutcome =
  | { readonly kind: 'corrected' }
  /** It would leave less than nothing available. */
  | { readonly kind: 'insufficient' }
  /** Nobody looked at it first, or too long ago. */
  | { readonly kind: 'unknown' }
  /** What was looked at was another amount or note. */
  | { readonly kind: 'different' };

export type CorrectionPreview =
  | { readonly kind: 'previewed'; readonly before: Balance; readonly expires: UnixMs }
  | { readonly kind: 'insufficient'; readonly before: Balance };

/** How long what was looked at can be confirmed. */
export const PREVIEW_LIFETIME_MS = 10 * 60 * 1_000;
