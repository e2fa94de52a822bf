import type { Budget, BudgetPeriod, NanoUsd, TargetRules, UnixMs, UtcDay } from '@gateway/base';

/** A permission of a key, as named in the public API. */
export type Scope = 'chat' | 'usage:read';

export const SCOPES: readonly Scope[] = ['chat', 'usage:read'];

/** A budget of a rolling window, of some models, or of each end user of a key. */
export interface OtherBudget {
  readonly period: BudgetPeriod;
  /** The length of a rolling window: the current UTC hour and those before it. */
  readonly hours?: number;
  /** The id of a model, or the start of ids and an asterisk. */
  readonly model?: string;
  /** Each end user of the key may spend the amount. */
  readonly perEndUser?: boolean;
  readonly amountNanoUsd: NanoUsd;
}

/** A budget of a calendar period, or of all time. */
export type BudgetName =
  'dailyBudgetNanoUsd' | 'weeklyBudgetNanoUsd' | 'monthlyBudgetNanoUsd' | 'totalBudgetNanoUsd';

/** Caps of one key. An absent one does not apply. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly dailyBudgetNanoUsd?: NanoUsd;
  /** The budget of the UTC week, which starts on Monday. */
  readonly weeklyBudgetNanoUsd?: NanoUsd;
  /** The budget of the UTC calendar month. */
  readonly monthlyBudgetNanoUsd?: NanoUsd;
  /** The budget of all time. */
  readonly totalBudgetNanoUsd?: NanoUsd;
  /** No two differ in the amount alone; not empty. */
  readonly otherBudgets?: readonly OtherBudget[];
  readonly concurrency?: number;
}

/** The most that all keys of a project together may spend. An absent budget does not apply. */
export type ProjectBudgets = Pick<KeyLimits, BudgetName | 'otherBudgets'>;

/** Keys of an organization that share budgets. */
export interface Project {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly budgets: ProjectBudgets;
  readonly createdAt: UnixMs;
  /** Permanent. An archived project has no active keys. */
  readonly archivedAt?: UnixMs;
  /** Incremented by each change. */
  readonly version: number;
}

/** Caps of an organization. An absent one does not apply. */
export interface OrganizationLimits extends KeyLimits {
  /** The cap on `max_tokens`. */
  readonly maxOutputTokens?: number;
  /** Whether `n` above 1 is allowed. */
  readonly multipleCompletions: boolean;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly suspended: boolean;
  readonly suspendedReason?: string;
  /** Set by the organization's owners and admins. None is above its ceiling. */
  readonly limits: OrganizationLimits;
  /** The upper bounds of `limits`, set by operators. */
  readonly ceilings: OrganizationLimits;
  /** People without a second factor have no access until they set one up. */
  readonly requiresSecondFactor: boolean;
  /** In lower case. */
  readonly targetRules: TargetRules;
  /** Holds of streams cover a slice of their output and grow while it is generated. */
  readonly elasticHolds: boolean;
  /** The metadata entries of requests that are stored as tags of their generations. Sorted. */
  readonly usageTags: readonly string[];
  readonly createdAt: UnixMs;
  /** Incremented by each change. */
  readonly version: number;
}

/** The editable settings of a key, in canonical form. */
export interface KeySettings {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Empty allows every model. */
  readonly allowedModels: readonly string[];
  /** Addresses and CIDR ranges in canonical form. Empty allows every address. */
  readonly ipAllowlist: readonly string[];
  /** Whether streams may have a JSON response format. */
  readonly jsonStreaming: boolean;
  /** The key works until the end of this day, UTC. */
  readonly expiresOn?: UtcDay;
  readonly limits: KeyLimits;
  /** What its requests spend counts against the budgets of this project. */
  readonly projectId?: string;
}

export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly last4: string;
  readonly settings: KeySettings;
  readonly createdAt: UnixMs;
  readonly revokedAt?: UnixMs;
  /** After a rotation: the previous secret, which may have expired. */
  readonly previousSecret?: PreviousSecret;
  /** Only for session keys. Other keys expire by `settings.expiresOn`. */
  readonly expiresAt?: UnixMs;
  /** Only for session keys: the session whose end revokes the key. */
  readonly sessionId?: string;
  readonly owner: KeyOwner;
  /** Incremented by each change. */
  readonly version: number;
}

/** The person who is responsible for a key: its creator, unless it was transferred. */
export interface KeyOwner {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isOperator: boolean;
  /** Neither a member of the organization nor an operator, or disabled. */
  readonly hasLeft: boolean;
}

export type KeyState = 'active' | 'expired' | 'revoked';

export interface PreviousSecret {
  readonly last4: string;
  /** The secret is invalid from this moment on. */
  readonly worksUntil: UnixMs;
}

/** Everything an edge needs to authorize requests with a key. */
export interface KeyGrant {
  readonly keyId: string;
  readonly organizationId: string;
  readonly revoked: boolean;
  /** The limits are without budgets. */
  readonly settings: Omit<KeySettings, 'name'>;
  /** The effective limits, without budgets: a ceiling applies where the organization has no limit. */
  readonly organizationLimits: OrganizationLimits;
  /** The budgets of the key, its project and the organization. */
  readonly budgets: readonly Budget[];
  readonly organizationSuspended: boolean;
  readonly targetRules: TargetRules;
  readonly elasticHolds: boolean;
  readonly usageTags: readonly string[];
  /** From this moment on the key is expired. */
  readonly expiresAt?: UnixMs;
  /** When the verified secret expires; absent unless it is the previous secret of a rotated key. */
  readonly secretEndsAt?: UnixMs;
}
