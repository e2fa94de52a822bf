import { utcDay, type ManagementTokenAccess, type ManagementTokenRole, type UnixMs } from '@gateway/base';
import {
  auditEntryRow,
  newestFirst,
  type AuthPrisma,
  type Prisma,
  lockRoles,
} from '@gateway/auth-shared/adapters';
import type { ManagementToken } from '../../core/management-tokens/management-token';
import type { OrganizationRole } from '../../core/model';
import type { ManagementTokenStore } from '../../core/ports';

/** The person who created the token, and their roles now. */
const WITH_CREATOR = { creator: { include: { memberships: true } } } as const;

export function createPrismaManagementTokenStore(prisma: AuthPrisma): ManagementTokenStore {
  return {
    insert(sha256, token, { actorId, permits }, max, audit) {
      const { id, scope, name, last4, access, createdAt, expiresOn, creatorId } = token;
      const data = {
        id,
        name,
        last4,
        access,
        organizationId: scope?.organizationId ?? null,
        role: scope?.role ?? null,
        sha256: Uint8Array.from(sha256),
        createdBy: creatorId,
        createdAt: new Date(createdAt),
        expiresOn: new Date(`${expiresOn}T00:00:00Z`),
      };
      return prisma.$transaction(async (transaction) => {
        if (!permits(await lockRoles(transaction, actorId, scope?.organizationId))) return 'forbidden';
        const today = new Date(`${utcDay(createdAt)}T00:00:00Z`);
        const others = { createdBy: creatorId, revokedAt: null, expiresOn: { gte: today } };
        if ((await transaction.managementToken.count({ where: others })) >= max) return 'too_many';
        const row = await transaction.managementToken.create({ data, include: WITH_CREATOR });
        await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        return managementTokenOf(row);
      });
    },

    async find(id) {
      const row = await prisma.managementToken.findUnique({ where: { id }, include: WITH_CREATOR });
      return row ? managementTokenOf(row) : undefined;
    },

    async findBySecret(sha256) {
      const where = { sha256: Uint8Array.from(sha256) };
      const row = await prisma.managementToken.findUnique({ where, include: WITH_CREATOR });
      return row ? managementTokenOf(row) : undefined;
    },

    async list(organizationId, page) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.managementToken.findMany({
        where: { ...where, organizationId: organizationId ?? null },
        ...order,
        include: WITH_CREATOR,
      });
      return rows.map(managementTokenOf);
    },

    revoke(id, at, audit) {
      return prisma.$transaction(async (transaction) => {
        const revoked = await transaction.managementToken.updateMany({
          where: { id, revokedAt: null },
          data: { revokedAt: new Date(at) },
        });
        if (revoked.count > 0) await transaction.auditEntry.create({ data: auditEntryRow(audit) });
        const row = await transaction.managementToken.findUniqueOrThrow({
          where: { id },
          include: WITH_CREATOR,
        });
        return managementTokenOf(row);
      });
    },

    async recordUse(id, at) {
      await prisma.managementToken.updateMany({ where: { id }, data: { lastUsedAt: new Date(at) } });
    },
  };
}

type Row = Prisma.ManagementTokenModel & {
  readonly creator: Prisma.MemberModel & { readonly memberships: readonly Prisma.MembershipModel[] };
};

function managementTokenOf({ creator, organizationId, role, ...row }: Row): ManagementToken {
  const membership = creator.memberships.find((one) => one.organizationId === organizationId);
  return {
    id: row.id,
    ...(organizationId !== null && { scope: { organizationId, role: role as ManagementTokenRole } }),
    name: row.name,
    last4: row.last4,
    access: row.access as ManagementTokenAccess,
    createdAt: row.createdAt.getTime() as UnixMs,
    expiresOn: utcDay(row.expiresOn.getTime() as UnixMs),
    ...(row.revokedAt !== null && { revokedAt: row.revokedAt.getTime() as UnixMs }),
    ...(row.lastUsedAt !== null && { lastUsedAt: row.lastUsedAt.getTime() as UnixMs }),
    creator: {
      id: creator.id,
      email: creator.email,
      name: creator.name,
      disabled: creator.disabledAt !== null,
      memberRole: creator.role === 'operator' ? 'operator' : 'member',
      organizationRole: membership?.role as OrganizationRole | undefined,
    },
  };
}
