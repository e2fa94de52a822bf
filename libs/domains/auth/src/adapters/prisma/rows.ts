import { nanoUsd, utcDay, type UnixMs, type UtcDay } from '@gateway/base';
import type {
  ApiKey,
  KeyLimits,
  KeyOwner,
  Organization,
  OrganizationLimits,
  Project,
  ProjectBudgets,
  Scope,
} from '../../core/model';
import { otherBudgetRow, otherBudgetsOf, type OtherBudgetRow } from '../other-budgets';
import type { Prisma } from '@gateway/auth-shared/adapters';

/** Maps the model to table rows and back. Absent values are NULL. */

interface BudgetColumns {
  readonly dailyBudgetNanoUsd: bigint | null;
  readonly weeklyBudgetNanoUsd: bigint | null;
  readonly monthlyBudgetNanoUsd: bigint | null;
  readonly totalBudgetNanoUsd: bigint | null;
  readonly otherBudgets: Prisma.JsonValue;
}

interface LimitColumns extends BudgetColumns {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
}

function budgetsOf(row: BudgetColumns): ProjectBudgets {
  const otherBudgets = otherBudgetsOf(row.otherBudgets as unknown as OtherBudgetRow[]);
  return {
    ...(row.dailyBudgetNanoUsd === null ? {} : { dailyBudgetNanoUsd: nanoUsd(row.dailyBudgetNanoUsd) }),
    ...(row.weeklyBudgetNanoUsd === null ? {} : { weeklyBudgetNanoUsd: nanoUsd(row.weeklyBudgetNanoUsd) }),
    ...(row.monthlyBudgetNanoUsd === null ? {} : { monthlyBudgetNanoUsd: nanoUsd(row.monthlyBudgetNanoUsd) }),
    ...(row.totalBudgetNanoUsd === null ? {} : { totalBudgetNanoUsd: nanoUsd(row.totalBudgetNanoUsd) }),
    ...(otherBudgets.length > 0 && { otherBudgets }),
  };
}

function budgetColumns(budgets: ProjectBudgets) {
  return {
    dailyBudgetNanoUsd: budgets.dailyBudgetNanoUsd ?? null,
    weeklyBudgetNanoUsd: budgets.weeklyBudgetNanoUsd ?? null,
    monthlyBudgetNanoUsd: budgets.monthlyBudgetNanoUsd ?? null,
    totalBudgetNanoUsd: budgets.totalBudgetNanoUsd ?? null,
    otherBudgets: (budgets.otherBudgets ?? []).map(otherBudgetRow),
  };
}

function keyLimitsOf(row: LimitColumns): KeyLimits {
  return {
    ...(row.requestsPerMinute === null ? {} : { requestsPerMinute: row.requestsPerMinute }),
    ...(row.tokensPerMinute === null ? {} : { tokensPerMinute: row.tokensPerMinute }),
    ...budgetsOf(row),
    ...(row.concurrency === null ? {} : { concurrency: row.concurrency }),
  };
}

function limitColumns(limits: KeyLimits) {
  return {
    requestsPerMinute: limits.requestsPerMinute ?? null,
    tokensPerMinute: limits.tokensPerMinute ?? null,
    ...budgetColumns(limits),
    concurrency: limits.concurrency ?? null,
  };
}

function organizationLimitsOf(
  row: LimitColumns & { maxOutputTokens: number | null; multipleCompletions: boolean },
): OrganizationLimits {
  return {
    ...keyLimitsOf(row),
    ...(row.maxOutputTokens === null ? {} : { maxOutputTokens: row.maxOutputTokens }),
    multipleCompletions: row.multipleCompletions,
  };
}

export function organizationOf(row: Prisma.OrganizationModel): Organization {
  return {
    id: row.id,
    name: row.name,
    suspended: row.suspended,
    ...(row.suspendedReason === null ? {} : { suspendedReason: row.suspendedReason }),
    limits: organizationLimitsOf(row),
    ceilings: organizationLimitsOf({
      requestsPerMinute: row.ceilingRequestsPerMinute,
      tokensPerMinute: row.ceilingTokensPerMinute,
      dailyBudgetNanoUsd: row.ceilingDailyBudgetNanoUsd,
      weeklyBudgetNanoUsd: row.ceilingWeeklyBudgetNanoUsd,
      monthlyBudgetNanoUsd: row.ceilingMonthlyBudgetNanoUsd,
      totalBudgetNanoUsd: row.ceilingTotalBudgetNanoUsd,
      otherBudgets: [],
      concurrency: row.ceilingConcurrency,
      maxOutputTokens: row.ceilingMaxOutputTokens,
      multipleCompletions: row.ceilingMultipleCompletions,
    }),
    requiresSecondFactor: row.requiresSecondFactor,
    targetRules: {
      allowedProviders: row.allowedProviders,
      deniedProviders: row.deniedProviders,
      allowedRegions: row.allowedRegions,
      deniedRegions: row.deniedRegions,
    },
    elasticHolds: row.elasticHolds,
    usageTags: row.usageTags,
    createdAt: row.createdAt.getTime() as UnixMs,
    version: row.version,
  };
}

export function organizationRow(organization: Organization) {
  const { ceilings } = organization;
  return {
    id: organization.id,
    name: organization.name,
    suspended: organization.suspended,
    suspendedReason: organization.suspendedReason ?? null,
    ...limitColumns(organization.limits),
    maxOutputTokens: organization.limits.maxOutputTokens ?? null,
    multipleCompletions: organization.limits.multipleCompletions,
    ceilingRequestsPerMinute: ceilings.requestsPerMinute ?? null,
    ceilingTokensPerMinute: ceilings.tokensPerMinute ?? null,
    ceilingDailyBudgetNanoUsd: ceilings.dailyBudgetNanoUsd ?? null,
    ceilingWeeklyBudgetNanoUsd: ceilings.weeklyBudgetNanoUsd ?? null,
    ceilingMonthlyBudgetNanoUsd: ceilings.monthlyBudgetNanoUsd ?? null,
    ceilingTotalBudgetNanoUsd: ceilings.totalBudgetNanoUsd ?? null,
    ceilingConcurrency: ceilings.concurrency ?? null,
    ceilingMaxOutputTokens: ceilings.maxOutputTokens ?? null,
    ceilingMultipleCompletions: ceilings.multipleCompletions,
    requiresSecondFactor: organization.requiresSecondFactor,
    allowedProviders: [...organization.targetRules.allowedProviders],
    deniedProviders: [...organization.targetRules.deniedProviders],
    allowedRegions: [...organization.targetRules.allowedRegions],
    deniedRegions: [...organization.targetRules.deniedRegions],
    elasticHolds: organization.elasticHolds,
    usageTags: [...organization.usageTags],
    createdAt: new Date(organization.createdAt),
    version: organization.version,
  };
}

function previousSecretOf({
  previousLast4,
  previousWorksUntil,
}: Pick<Prisma.ApiKeyModel, 'previousLast4' | 'previousWorksUntil'>): Pick<ApiKey, 'previousSecret'> {
  if (previousLast4 === null || previousWorksUntil === null) return {};
  return { previousSecret: { last4: previousLast4, worksUntil: previousWorksUntil.getTime() as UnixMs } };
}

/** The columns of the previous secret, except its hash, which the store writes. */
export function previousSecretColumns({ previousSecret }: ApiKey) {
  return {
    previousLast4: previousSecret?.last4 ?? null,
    previousWorksUntil: previousSecret ? new Date(previousSecret.worksUntil) : null,
  };
}

/** The owner of each key, with what decides whether they have left. */
export const WITH_OWNER = { owner: { include: { memberships: true } } } as const;

type OwnerRow = Prisma.MemberModel & { readonly memberships: readonly Prisma.MembershipModel[] };

/** A person as the owner of keys of the organization. */
function keyOwnerOf(
  { id, email, name, role, disabledAt, memberships }: OwnerRow,
  organizationId: string,
): KeyOwner {
  const isOperator = role === 'operator';
  const isMember = memberships.some((one) => one.organizationId === organizationId);
  return { id, email, name, isOperator, hasLeft: disabledAt !== null || !(isOperator || isMember) };
}

export function apiKeyOf(
  row: Omit<Prisma.ApiKeyModel, 'sha256' | 'previousSha256'> & { readonly owner: OwnerRow },
): ApiKey {
  return {
    id: row.id,
    organizationId: row.organizationId,
    last4: row.last4,
    settings: {
      name: row.name,
      scopes: row.scopes as Scope[],
      allowedModels: row.allowedModels,
      ipAllowlist: row.ipAllowlist,
      jsonStreaming: row.jsonStreaming,
      ...(row.expiresOn === null ? {} : { expiresOn: utcDay(row.expiresOn.getTime() as UnixMs) }),
      limits: keyLimitsOf(row),
      ...(row.projectId === null ? {} : { projectId: row.projectId }),
    },
    createdAt: row.createdAt.getTime() as UnixMs,
    ...(row.revokedAt === null ? {} : { revokedAt: row.revokedAt.getTime() as UnixMs }),
    ...previousSecretOf(row),
    ...(row.expiresAt === null ? {} : { expiresAt: row.expiresAt.getTime() as UnixMs }),
    ...(row.sessionId === null ? {} : { sessionId: row.sessionId }),
    owner: keyOwnerOf(row.owner, row.organizationId),
    version: row.version,
  };
}

export function apiKeyRow({ id, organizationId, last4, settings, createdAt, revokedAt, ...key }: ApiKey) {
  return {
    id,
    organizationId,
    name: settings.name,
    last4,
    scopes: [...settings.scopes],
    allowedModels: [...settings.allowedModels],
    ipAllowlist: [...settings.ipAllowlist],
    jsonStreaming: settings.jsonStreaming,
    expiresOn: settings.expiresOn === undefined ? null : startOf(settings.expiresOn),
    ...limitColumns(settings.limits),
    createdAt: new Date(createdAt),
    revokedAt: revokedAt === undefined ? null : new Date(revokedAt),
    expiresAt: key.expiresAt === undefined ? null : new Date(key.expiresAt),
    sessionId: key.sessionId ?? null,
    ownerId: key.owner.id,
    projectId: settings.projectId ?? null,
    version: key.version,
  };
}

export function projectOf(row: Prisma.ProjectModel): Project {
  return {
    id: row.id,
    organizationId: row.organizationId,
    name: row.name,
    budgets: budgetsOf(row),
    createdAt: row.createdAt.getTime() as UnixMs,
    ...(row.archivedAt === null ? {} : { archivedAt: row.archivedAt.getTime() as UnixMs }),
    version: row.version,
  };
}

export function projectRow({ budgets, createdAt, archivedAt, ...project }: Project) {
  return {
    ...project,
    ...budgetColumns(budgets),
    createdAt: new Date(createdAt),
    archivedAt: archivedAt === undefined ? null : new Date(archivedAt),
  };
}

/** A value of a date column. */
export function startOf(day: UtcDay): Date {
  return new Date(`${day}T00:00:00Z`);
}
