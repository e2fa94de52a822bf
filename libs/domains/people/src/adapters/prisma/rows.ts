import type { UnixMs } from '@gateway/base';
import type { Identity, Membership, OrganizationMember, OrganizationRole, Person } from '../../core/model';
import type { Session } from '@gateway/auth-shared';
import type { StoredMember } from '../../core/ports';
import { type Prisma, containing, memberOf } from '@gateway/auth-shared/adapters';

export function storedMemberOf(row: Prisma.MemberModel): StoredMember {
  return {
    ...memberOf(row),
    disabled: row.disabledAt !== null,
    timeZone: row.timeZone,
    ...(row.passwordHash === null ? {} : { passwordHash: row.passwordHash }),
    ...(row.totpSecret === null
      ? {}
      : { totp: { encryptedSecret: row.totpSecret, confirmed: row.totpConfirmedAt !== null } }),
  };
}

/** Members with this text in their email, name or id. */
export function memberContaining(text: string) {
  return { OR: [{ email: containing(text) }, { name: containing(text) }, { id: containing(text) }] };
}

/** The row of a new member. Other columns are set later. */
export function storedMemberRow({ id, email, name, role, passwordHash }: StoredMember) {
  return { id, email, name, role, passwordHash: passwordHash ?? null };
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
    name: row.member.name,
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
    disabled: row.disabledAt !== null,
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
    confirmedAt: new Date(session.confirmedAt),
  };
}
