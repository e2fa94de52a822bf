import type { UnixMs } from '@gateway/base';
import type { AuditEntry } from '../../core/audit-entry';
import type { Member, Session, SignInMethod } from '../../core/session';
import type { Prisma } from './generated/client';

export function memberOf(row: { id: string; email: string; name: string; role: string }): Member {
  return { id: row.id, email: row.email, name: row.name, role: row.role as Member['role'] };
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
    confirmedAt: row.confirmedAt.getTime() as UnixMs,
  };
}

export function auditEntryRow(entry: AuditEntry) {
  return {
    id: entry.id,
    createdAt: new Date(entry.createdAt),
    actorId: entry.actor.id,
    actorLabel: entry.actor.label,
    actorIpAddress: entry.actor.ipAddress,
    actorRole: entry.actor.memberRole ?? 'member',
    organizationId: entry.organizationId ?? null,
    action: entry.action,
    target: entry.target,
    details: entry.details as Prisma.InputJsonObject,
  };
}
