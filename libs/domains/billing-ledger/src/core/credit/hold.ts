import type { Budget, BudgetPeriod, BudgetScope, NanoUsd, Prices, UnixMs } from '@gateway/base';

/** An amount to reserve before a generation runs. */
export interface HoldRequest {
  /** The generation's id. */
  readonly holdId: string;
  readonly organizationId: string;
  readonly keyId: string;
  /** The maximum cost of the generation. */
  readonly amountNanoUsd: NanoUsd;
  /** Frozen for settlement. */
  readonly prices: Prices;
  /** When the edge admitted the request, by the edge's clock. */
  readonly createdAt: UnixMs;
  /** How long after it is held the reaper voids it. */
  readonly lifetimeMs: number;
  /** The claim of the request's Idempotency-Key. */
  readonly idempotencyScope: string | undefined;
  /** Requests of the organization that share a budget. */
  readonly runId: string | undefined;
  /** The project of the key. */
  readonly projectId: string | undefined;
  /** The budgets of the hold's owners. The first hold of a run fixes the run's; later holds may have none. */
  readonly budgets: readonly Budget[];
}

/** The budget of a run. */
export interface RunAccount {
  readonly budgetNanoUsd: NanoUsd;
  /** Charged for its settled generations. */
  readonly spentNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
  readonly createdAt: UnixMs;
}

export interface HoldRef {
  readonly holdId: string;
  readonly organizationId: string;
}

export type HoldOutcome =
  | { readonly kind: 'held' }
  | {
      readonly kind: 'insufficient_credits';
      readonly availableNanoUsd: NanoUsd;
      /** Reserved by open holds; available again when they are settled below their amount, or voided. */
      readonly heldNanoUsd: NanoUsd;
    }
  | {
      readonly kind: 'budget_exceeded';
      readonly scope: BudgetScope;
      readonly period: BudgetPeriod;
      readonly limitNanoUsd: NanoUsd;
      /** Spent and held in the period, before this request. */
      readonly usedNanoUsd: NanoUsd;
      /** The part of it that open holds reserve. */
      readonly heldNanoUsd: NanoUsd;
      /** The length of a rolling window, and when enough has left it, unless more is spent. */
      readonly hours?: number;
      readonly freesAt?: UnixMs;
      /** The models that count. */
      readonly model?: string;
    }
  /** The run has no hold yet, and this one names no budget. */
  | { readonly kind: 'unknown_run' }
  /** The id belongs to a hold of another organization. */
  | { readonly kind: 'foreign' }
  /** The hold with this id was settled, voided or abandoned, so the generation must not run. */
  | { readonly kind: 'closed' }
  /** The hold cannot be stored, whatever the balance. */
  | { readonly kind: 'invalid'; readonly reason: string };
