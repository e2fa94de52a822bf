import type { UnixMs } from '@gateway/base';
import type { Invitation, OrganizationRole } from '../../core/model';
import type { InvitationStore } from '../../core/ports';
import {
  type AuthPrisma,
  type Prisma,
  newestFirst,
  auditEntryRow,
  lockRoles,
} from '@gateway/auth-shared/adapters';
import { isUniqueViolation } from './member-store';
import { storedMemberRow } from './rows';
import { insertSession } from './sessions';

const OPEN = { acceptedAt: null, revokedAt: null } as const;
const WITHOUT_TOKEN = { tokenSha256: true } as const;

export function createPrismaInvitationStore(prisma: AuthPrisma): InvitationStore {
  return {
    insert(invitation, tokenSha256, { actorId, permits }, max, audit) {
      const { organizationId, email, createdAt } = invitation;
      return prisma.$transaction(async (transaction) => {
        // Serializes concurrent invitations, so that only one of them stays open.
        if (!permits(await lockRoles(transaction, actorId, organizationId))) return 'forbidden';
        const member = await transaction.membership.count({ where: { organizationId, member: { email } } });
        if (member > 0) return 'already_member';
        const others = {
          organizationId,
          email: { not: email },
          ...OPEN,
          expiresAt: { gt: new Date(createdAt) },
        };
        if ((await transaction.invitation.count({ where: others })) >= max) return 'too_many';
        await transaction.invitation.updateMany({
          where: { organizationId, email, ...OPEN },
          data: { revokedAt: new Date(createdAt) },
        });
        const data = { ...invitationRow(invitation), tokenSha256: Uint8Array.from(tokenSha256) };
        await transaction.invitation.create({ data });
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return 'inserted';
      });
    },

    async list(organizationId, page, which) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.invitation.findMany({
        where: { ...where, organizationId, ...(which === 'open' && OPEN) },
        ...order,
        omit: WITHOUT_TOKEN,
      });
      return rows.map(invitationOf);
    },

    async find(organizationId, id) {
      const row = await prisma.invitation.findFirst({ where: { id, organizationId }, omit: WITHOUT_TOKEN });
      return row ? invitationOf(row) : undefined;
    },

    async findByToken(tokenSha256) {
      const row = await prisma.invitation.findUnique({
        where: { tokenSha256: Uint8Array.from(tokenSha256) },
        include: { organization: { select: { name: true } } },
      });
      return row ? { invitation: invitationOf(row), organizationName: row.organization.name } : undefined;
    },

    revoke(id, at, audit) {
      return prisma.$transaction(async (transaction) => {
        const data = { revokedAt: new Date(at) };
        const { count } = await transaction.invitation.updateMany({ where: { id, ...OPEN }, data });
        if (count === 0) return false;
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return true;
      });
    },

    async accept({ invitation: { id, organizationId, role }, memberId, newMember, at, audits, opened }) {
      const createdAt = new Date(at);
      try {
        return await prisma.$transaction(async (transaction) => {
          // Locks the member before the organization; a new one has no row yet.
          await lockRoles(transaction, memberId, organizationId);
          const data = { acceptedAt: createdAt };
          const { count } = await transaction.invitation.updateMany({ where: { id, ...OPEN }, data });
          if (count === 0) return false;
          if (newMember)
            await transaction.member.create({ data: { ...storedMemberRow(newMember), createdAt } });
          await transaction.membership.create({ data: { organizationId, memberId, role, createdAt } });
          if (opened) await insertSession(transaction, opened);
          const entries = opened ? [...audits, opened.audit] : audits;
          await transaction.auditEntry.createMany({ data: entries.map(auditEntryRow) });
          return true;
        });
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
  };
}

function invitationOf(row: Omit<Prisma.InvitationModel, 'tokenSha256'>): Invitation {
  return {
    id: row.id,
    organizationId: row.organizationId,
    email: row.email,
    role: row.role as OrganizationRole,
    invitedBy: row.invitedBy,
    createdAt: row.createdAt.getTime() as UnixMs,
    expiresAt: row.expiresAt.getTime() as UnixMs,
    ...(row.acceptedAt === null ? {} : { acceptedAt: row.acceptedAt.getTime() as UnixMs }),
    ...(row.revokedAt === null ? {} : { revokedAt: row.revokedAt.getTime() as UnixMs }),
  };
}

function invitationRow({ id, organizationId, email, role, invitedBy, createdAt, expiresAt }: Invitation) {
  const times = { createdAt: new Date(createdAt), expiresAt: new Date(expiresAt) };
  return { id, organizationId, email, role, invitedBy, ...times };
}
