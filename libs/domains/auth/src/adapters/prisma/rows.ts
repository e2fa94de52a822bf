import { nanoUsd, utcDay, type UnixMs, type UtcDay } from '@gateway/base';
import type {
  ApiKey,
  AuditEntry,
  AuditOutcome,
  Identity,
  JsonObject,
  KeyLimits,
  Member,
  Membership,
  Organization,
  OrganizationLimits,
  OrganizationMember,
  OrganizationRole,
  Person,
  Scope,
  Session,
  SignInMethod,
} from '../../core/model';
import type { StoredMember } from '../../core/ports';
import type { Prisma } from './generated/client';

/** How the model lies in the tables, both ways. Absent values are NULL there. */

interface LimitColumns {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly dailyBudgetNanoUsd: bigint | null;
  readonly concurrency: number | null;
}

function keyLimitsOf(row: LimitColumns): KeyLimits {
  return {
    ...(row.requestsPerMinute === null ? {} : { requestsPerMinute: row.requestsPerMinute }),
    ...(row.tokensPerMinute === null ? {} : { tokensPerMinute: row.tokensPerMinute }),
    ...(row.dailyBudgetNanoUsd === null ? {} : { dailyBudgetNanoUsd: nanoUsd(row.dailyBudgetNanoUsd) }),
    ...(row.concurrency === null ? {} : { concurrency: row.concurrency }),
  };
}

function limitColumns(limits: KeyLimits): LimitColumns {
  return {
    requestsPerMinute: limits.requestsPerMinute ?? null,
    tokensPerMinute: limits.tokensPerMinute ?? null,
    dailyBudgetNanoUsd: limits.dailyBudgetNanoUsd ?? null,
    concurrency: limits.concurrency ?? null,
  };
}

export function organizationLimitsOf(
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
    createdAt: row.createdAt.getTime() as UnixMs,
    version: row.version,
  };
}

export function organizationRow(organization: Organization): Prisma.OrganizationModel {
  return {
    id: organization.id,
    name: organization.name,
    suspended: organization.suspended,
    suspendedReason: organization.suspendedReason ?? null,
    ...limitColumns(organization.limits),
    maxOutputTokens: organization.limits.maxOutputTokens ?? null,
    multipleCompletions: organization.limits.multipleCompletions,
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

/** What of the previous secret is a column that may be shown; its hash is the store's to write. */
export function previousSecretColumns({ previousSecret }: ApiKey) {
  return {
    previousLast4: previousSecret?.last4 ?? null,
    previousWorksUntil: previousSecret ? new Date(previousSecret.worksUntil) : null,
  };
}

export function apiKeyOf(row: Omit<Prisma.ApiKeyModel, 'sha256' | 'previousSha256'>): ApiKey {
  return {
    id: row.id,
    organizationId: row.organizationId,
    last4: row.last4,
    settings: {
      name: row.name,
      scopes: row.scopes as Scope[],
      allowedModels: row.allowedModels,
      ipAllowlist: row.ipAllowlist,
      ...(row.expiresOn === null ? {} : { expiresOn: utcDay(row.expiresOn.getTime() as UnixMs) }),
      limits: keyLimitsOf(row),
    },
    createdAt: row.createdAt.getTime() as UnixMs,
    ...(row.revokedAt === null ? {} : { revokedAt: row.revokedAt.getTime() as UnixMs }),
    ...previousSecretOf(row),
    ...(row.expiresAt === null ? {} : { expiresAt: row.expiresAt.getTime() as UnixMs }),
    ...(row.sessionId === null ? {} : { sessionId: row.sessionId }),
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
    expiresOn: settings.expiresOn === undefined ? null : startOf(settings.expiresOn),
    ...limitColumns(settings.limits),
    createdAt: new Date(createdAt),
    revokedAt: revokedAt === undefined ? null : new Date(revokedAt),
    expiresAt: key.expiresAt === undefined ? null : new Date(key.expiresAt),
    sessionId: key.sessionId ?? null,
    version: key.version,
  };
}

function startOf(day: UtcDay): Date {
  return new Date(`${day}T00:00:00Z`);
}

export function memberOf(row: { id: string; email: string; role: string }): Member {
  return { id: row.id, email: row.email, role: row.role as Member['role'] };
}

export function storedMemberOf(row: Prisma.MemberModel): StoredMember {
  return {
    ...memberOf(row),
    ...(row.passwordHash === null ? {} : { passwordHash: row.passwordHash }),
    ...(row.totpSecret === null
      ? {}
      : { totp: { sealedSecret: row.totpSecret, confirmed: row.totpConfirmedAt !== null } }),
  };
}

/** Of a new member: what else there is comes later. */
export function storedMemberRow({ id, email, role, passwordHash }: StoredMember) {
  return { id, email, role, passwordHash: passwordHash ?? null };
}

export function membershipOf(
  row: Prisma.MembershipModel & { organization: Prisma.OrganizationModel },
): Membership {
  const { id, name, suspended } = row.organization;
  return { organization: { id, name, suspended }, role: row.role as OrganizationRole };
}

export function organizationMemberOf(
  row: Prisma.MembershipModel & { member: Prisma.MemberModel },
): OrganizationMember {
  return {
    id: row.memberId,
    email: row.member.email,
    role: row.role as OrganizationRole,
    joinedAt: row.createdAt.getTime() as UnixMs,
    ...seenOf(row.member),
    secondFactor: row.member.totpConfirmedAt !== null,
  };
}

export function personOf(
  row: Prisma.MemberModel & {
    memberships: (Prisma.MembershipModel & { organization: Prisma.OrganizationModel })[];
    identities: Prisma.MemberIdentityModel[];
  },
): Person {
  return {
    ...memberOf(row),
    createdAt: row.createdAt.getTime() as UnixMs,
    ...seenOf(row),
    secondFactor: row.totpConfirmedAt !== null,
    memberships: row.memberships.map(membershipOf),
    identities: row.identities.map(identityOf),
  };
}

export function identityOf({ issuer, createdAt }: Prisma.MemberIdentityModel): Identity {
  return { issuer, linkedAt: createdAt.getTime() as UnixMs };
}

function seenOf({ lastSeenAt }: Prisma.MemberModel): { readonly lastSeenAt?: UnixMs } {
  return lastSeenAt === null ? {} : { lastSeenAt: lastSeenAt.getTime() as UnixMs };
}

export function sessionOf(row: Prisma.SessionModel & { member: Prisma.MemberModel }): Session {
  return {
    id: row.id,
    member: memberOf(row.member),
    device: row.device,
    ipAddress: row.ipAddress,
    signedInBy: row.signedInBy as SignInMethod,
    createdAt: row.createdAt.getTime() as UnixMs,
    lastSeenAt: row.lastSeenAt.getTime() as UnixMs,
    expiresAt: row.expiresAt.getTime() as UnixMs,
  };
}

export function sessionRow(session: Session) {
  return {
    id: session.id,
    memberId: session.member.id,
    device: session.device,
    ipAddress: session.ipAddress,
    signedInBy: session.signedInBy,
    createdAt: new Date(session.createdAt),
    lastSeenAt: new Date(session.lastSeenAt),
    expiresAt: new Date(session.expiresAt),
  };
}

export function auditEntryOf(row: Prisma.AuditEntryModel): AuditEntry {
  return {
    id: row.id,
    createdAt: row.createdAt.getTime() as UnixMs,
    actor: { id: row.actorId, label: row.actorLabel, ipAddress: row.actorIpAddress },
    ...(row.organizationId === null ? {} : { organizationId: row.organizationId }),
    action: row.action,
    target: row.target,
    details: row.details as JsonObject,
    outcome: row.outcome as AuditOutcome,
  };
}

export function auditEntryRow(entry: AuditEntry) {
  return {
    id: entry.id,
    createdAt: new Date(entry.createdAt),
    actorId: entry.actor.id,
    actorLabel: entry.actor.label,
    actorIpAddress: entry.actor.ipAddress,
    organizationId: entry.organizationId ?? null,
    action: entry.action,
    target: entry.target,
    details: entry.details as Prisma.InputJsonObject,
    outcome: entry.outcome,
  };
}
