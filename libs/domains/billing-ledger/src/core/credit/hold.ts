import type { NanoUsd, Prices, UnixMs } from '@gateway/base';

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
  readonly organizationBudgets: Budgets;
  readonly keyBudgets: Budgets;
  /** When the edge admitted the request, by the edge's clock. */
  readonly createdUnixMs: UnixMs;
  /** How long after it is held the reaper voids it. */
  readonly lifetimeMs: number;
  /** The claim of the request's Idempotency-Key. */
  readonly idempotencyScope: string | undefined;
  readonly run: RunRef | undefined;
  /** The project of the key. */
  readonly project: ProjectRef | undefined;
}

/** A project of an organization: keys that share budgets. */
export interface ProjectRef {
  readonly projectId: string;
  readonly budgets: Budgets;
}

/** A run of an organization: requests that share a budget. */
export interface RunRef {
  readonly runId: string;
  /** The first hold of the run fixes it; later ones are ignored. */
  readonly budgetNanoUsd: NanoUsd | undefined;
}

/** The budget of a run. */
export interface RunAccount {
  readonly budgetNanoUsd: NanoUsd;
  /** Charged for its settled generations. */
  readonly spentNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
  readonly createdUnixMs: UnixMs;
}

/** The owner of a budget. */
export type BudgetScope = 'run' | 'key' | 'project' | 'organization';
/** What a budget limits: the current UTC day, its month, or all time. */
export type BudgetPeriod = 'day' | 'month' | 'total';
/** The most that a key, a project or an organization may spend. */
export type Budgets = Readonly<Partial<Record<BudgetPeriod, NanoUsd>>>;

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
    }
  /** The run has no hold yet, and this one names no budget. */
  | { readonly kind: 'unknown_run' }
  /** The id belongs to a hold of another organization. */
  | { readonly kind: 'foreign' }
  /** The hold with this id was settled, voided or abandoned, so the generation must not run. */
  | { readonly kind: 'closed' }
  /** The hold cannot be stored, whatever the balance. */
  | { readonly kind: 'invalid'; readonly reason: string };
