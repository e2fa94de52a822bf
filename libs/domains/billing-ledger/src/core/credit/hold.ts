import type { NanoUsd, Prices, UnixMs, UtcDay } from '@gateway/base';

/** An amount to set aside before a generation runs. */
export interface HoldRequest {
  /** The generation's id. */
  readonly holdId: string;
  readonly organizationId: string;
  readonly keyId: string;
  /** The most that the generation can cost. */
  readonly amountNanoUsd: NanoUsd;
  /** Frozen for settlement. */
  readonly prices: Prices;
  readonly organizationDailyBudgetNanoUsd: NanoUsd | undefined;
  readonly keyDailyBudgetNanoUsd: NanoUsd | undefined;
  /** The UTC day of admission, whose budgets it counts against. */
  readonly day: UtcDay;
  readonly createdUnixMs: UnixMs;
  /** After this the reaper voids the hold. */
  readonly deadlineUnixMs: UnixMs;
  /** The Idempotency-Key's claim that the generation runs under. */
  readonly idempotencyScope: string | undefined;
}

export interface HoldRef {
  readonly holdId: string;
  readonly organizationId: string;
}

export type HoldOutcome =
  | { readonly kind: 'held' }
  | { readonly kind: 'insufficient_credits'; readonly availableNanoUsd: NanoUsd }
  | {
      readonly kind: 'daily_budget_exceeded';
      readonly scope: 'key' | 'organization';
      readonly limitNanoUsd: NanoUsd;
      /** Spent and held that day, before this request. */
      readonly usedNanoUsd: NanoUsd;
    }
  /** The id is another organization's hold: ids clashed, or someone made one up. */
  | { readonly kind: 'foreign' }
  /** The id's hold was settled, voided or given up; nothing may run on it. */
  | { readonly kind: 'closed' }
  /** It cannot be written down, whatever the balance. */
  | { readonly kind: 'impossible'; readonly reason: string };
