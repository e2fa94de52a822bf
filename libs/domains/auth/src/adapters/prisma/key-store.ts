import { isRefusal } from '@gateway/errors';
import { utcDay, type OrganizationRole, type UnixMs } from '@gateway/base';
import { forbidden, isIdLike } from '@gateway/auth-shared';
import type { KeyState, Project } from '../../core/model';
import type { KeyFilter, KeyIdentity, KeyStore } from '../../core/ports';
import {
  type AuthPrisma,
  type AuthTransaction,
  type Prisma,
  appendInvalidation,
  containing,
  lastInvalidation,
  lockOrganization,
  lockRoles,
  newestFirst,
  auditEntryRow,
  sessionOf,
  revokeSessionKeys,
} from '@gateway/auth-shared/adapters';
import {
  WITH_OWNER,
  apiKeyOf,
  apiKeyRow,
  organizationOf,
  previousSecretColumns,
  projectOf,
  startOf,
} from './rows';

const PREVIOUS_SECRET_ENDED = { previousSha256: null, previousLast4: null, previousWorksUntil: null };
const WITHOUT_HASH = { sha256: true, previousSha256: true } as const;

export function createPrismaKeyStore(prisma: AuthPrisma): KeyStore {
  return {
    insert(organizationId, projectId, { actorId, permits }, decide) {
      return prisma.$transaction(async (transaction) => {
        // The locks keep the limits of the organization, its projects and the number of its keys as they are until the
        // key is written.
        if (!permits(await lockRoles(transaction, actorId, organizationId))) return forbidden();
        const organization = await transaction.organization.findUnique({ where: { id: organizationId } });
        if (!organization) return undefined;
        const project = await findProject(transaction, organizationId, projectId);
        const keys = await transaction.apiKey.count({
          where: { organizationId, revokedAt: null, sessionId: null },
        });
        const decision = decide(organizationOf(organization), project, keys);
        if (isRefusal(decision)) return decision;
        const { key, sha256 } = decision.value;
        if (decision.kind === 'unchanged') return key;
        const data = { ...apiKeyRow(key), sha256: Uint8Array.from(sha256) };
        const row = await transaction.apiKey.create({ data, include: WITH_OWNER, omit: WITHOUT_HASH });
        await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
        return apiKeyOf(row);
      });
    },

    insertForSession(organizationId, { id, memberId }, decide) {
      return prisma.$transaction(async (transaction) => {
        // Sessions are locked before organizations. The shared lock keeps this one from ending until the key is written.
        await transaction.$queryRaw`select 1 from sessions where id = ${id} for share`;
        await lockOrganization(transaction, organizationId, 'for share');
        const organization = await transaction.organization.findUnique({ where: { id: organizationId } });
        const session = await transaction.session.findFirst({
          where: { id, memberId },
          include: { member: true },
        });
        if (!organization || !session) return undefined;
        const where = { organizationId_memberId: { organizationId, memberId } };
        const membership = await transaction.membership.findUnique({ where });
        const role = membership?.role as OrganizationRole | undefined;
        const decision = decide(organizationOf(organization), sessionOf(session), role);
        if (isRefusal(decision)) return decision;
        const { key, sha256 } = decision.value;
        if (decision.kind === 'change') {
          await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
          const before = { organizationId, sessionId: id };
          const ended = await revokeSessionKeys(transaction, before, key.createdAt);
          await transaction.apiKey.create({ data: { ...apiKeyRow(key), sha256: Uint8Array.from(sha256) } });
          if (ended !== undefined) return { kind: 'committed', value: key, sequence: ended };
        }
        return { kind: 'committed', value: key, sequence: await lastInvalidation(transaction) };
      });
    },

    async find(organizationId, id) {
      const row = await prisma.apiKey.findFirst({
        where: { id, organizationId },
        include: WITH_OWNER,
        omit: WITHOUT_HASH,
      });
      return row ? apiKeyOf(row) : undefined;
    },

    async list(organizationId, page, filter, now) {
      const { where, ...order } = newestFirst(page);
      const rows = await prisma.apiKey.findMany({
        where: { AND: [{ organizationId }, where, ...conditionsOf(organizationId, filter, now)] },
        ...order,
        include: WITH_OWNER,
        omit: WITHOUT_HASH,
      });
      return rows.map(apiKeyOf);
    },

    count: (organizationId, filter, now) =>
      prisma.apiKey.count({
        where: { AND: [{ organizationId }, ...conditionsOf(organizationId, filter, now)] },
      }),

    async findAnywhere(identity, limit) {
      const rows = await prisma.apiKey.findMany({
        where: identifiedBy(identity),
        orderBy: { id: 'desc' },
        take: limit,
        include: { ...WITH_OWNER, organization: true },
        omit: WITHOUT_HASH,
      });
      return rows.map((row) => ({ key: apiKeyOf(row), organizationName: row.organization.name }));
    },

    change(organizationId, id, projectIdOf, decide) {
      return prisma.$transaction(async (transaction) => {
        await lockOrganization(transaction, organizationId, 'for share');
        await transaction.$queryRaw`select 1 from api_keys where id = ${id} for update`;
        const row = await transaction.apiKey.findFirst({
          where: { id, organizationId },
          include: { organization: true, ...WITH_OWNER },
        });
        if (!row) return undefined;
        const current = apiKeyOf(row);
        const project = await findProject(transaction, organizationId, projectIdOf(current));
        const decision = decide(current, organizationOf(row.organization), project);
        if (isRefusal(decision)) return decision;
        const { value } = decision;
        if (decision.kind === 'unchanged') {
          return { kind: 'committed', value, sequence: await lastInvalidation(transaction) };
        }
        const previous = value.previousSecret === undefined ? PREVIOUS_SECRET_ENDED : {};
        await transaction.apiKey.update({ where: { id }, data: { ...apiKeyRow(value), ...previous } });
        await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
        return { kind: 'committed', value, sequence: await invalidate(transaction, row) };
      });
    },

    rotate(organizationId, id, decide) {
      return prisma.$transaction(async (transaction) => {
        await lockOrganization(transaction, organizationId, 'for share');
        await transaction.$queryRaw`select 1 from api_keys where id = ${id} for update`;
        const row = await transaction.apiKey.findFirst({
          where: { id, organizationId },
          include: WITH_OWNER,
        });
        if (!row) return undefined;
        const decision = decide(apiKeyOf(row));
        if (isRefusal(decision)) return decision;
        const { key, sha256, retained } = decision.value;
        if (decision.kind === 'unchanged') {
          return { kind: 'committed', value: key, sequence: await lastInvalidation(transaction) };
        }
        const previousSha256 = { current: row.sha256, previous: row.previousSha256, none: null }[retained];
        const hashes = { sha256: Uint8Array.from(sha256), previousSha256 };
        const data = { ...apiKeyRow(key), ...previousSecretColumns(key), ...hashes };
        await transaction.apiKey.update({ where: { id }, data });
        await transaction.auditEntry.create({ data: auditEntryRow(decision.audit) });
        return { kind: 'committed', value: key, sequence: await invalidate(transaction, row) };
      });
    },
  };
}

async function findProject(
  transaction: AuthTransaction,
  organizationId: string,
  id: string | undefined,
): Promise<Project | undefined> {
  if (id === undefined || !isIdLike(id)) return undefined;
  const row = await transaction.project.findFirst({ where: { id, organizationId } });
  return row ? projectOf(row) : undefined;
}

function conditionsOf(
  organizationId: string,
  { forSession, state, search, ids, ownerId, ownerHasLeft, projectId }: KeyFilter,
  now: UnixMs,
): Prisma.ApiKeyWhereInput[] {
  return [
    ...(forSession === undefined ? [] : [{ sessionId: forSession ? { not: null } : null }]),
    ...(state === undefined ? [] : [inState(state, now)]),
    ...(search === undefined ? [] : [{ OR: columnsContaining(search) }]),
    ...(ids === undefined ? [] : [{ id: { in: [...ids] } }]),
    ...(ownerId === undefined ? [] : [{ ownerId }]),
    ...(projectId === undefined ? [] : [{ projectId }]),
    ...(ownerHasLeft ? [{ owner: hasLeft(organizationId) }] : []),
  ];
}

function identifiedBy(identity: KeyIdentity): Prisma.ApiKeyWhereInput {
  if ('id' in identity) return { id: identity.id };
  if ('last4' in identity) return { OR: [{ last4: identity.last4 }, { previousLast4: identity.last4 }] };
  const sha256 = Uint8Array.from(identity.sha256);
  return { OR: [{ sha256 }, { previousSha256: sha256 }] };
}

/** As `keyOwnerOf` decides. */
function hasLeft(organizationId: string): Prisma.MemberWhereInput {
  const belongsElsewhere = { role: { not: 'operator' }, memberships: { none: { organizationId } } };
  return { OR: [{ disabledAt: { not: null } }, belongsElsewhere] };
}

function inState(state: KeyState, now: UnixMs): Prisma.ApiKeyWhereInput {
  if (state === 'revoked') return { revokedAt: { not: null } };
  const expired = [{ expiresAt: { lte: new Date(now) } }, { expiresOn: { lt: startOf(utcDay(now)) } }];
  const notExpired = [
    { OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(now) } }] },
    { OR: [{ expiresOn: null }, { expiresOn: { gte: startOf(utcDay(now)) } }] },
  ];
  return { revokedAt: null, ...(state === 'expired' ? { OR: expired } : { AND: notExpired }) };
}

function columnsContaining(text: string): Prisma.ApiKeyWhereInput[] {
  const match = containing(text);
  return [{ name: match }, { id: match }, { last4: match }, { previousLast4: match }];
}

/** Invalidates both secrets under which edges may have cached the key. Call it last, as `appendInvalidation` requires. */
async function invalidate(
  transaction: AuthTransaction,
  { sha256, previousSha256 }: { sha256: Uint8Array; previousSha256: Uint8Array | null },
): Promise<bigint> {
  if (previousSha256) await appendInvalidation(transaction, { keySha256: previousSha256 });
  return appendInvalidation(transaction, { keySha256: sha256 });
}
