import { canonicalRange, networkOf } from '@gateway/addresses';
import { systemClock, type Logger } from '@gateway/runtime';
import type { Pool } from 'pg';
import type { AuthPorts, Mailer } from '../core/ports';
import type { OidcSettings } from '../core/single-sign-on/ports';
import { createScryptPasswordHasher, type ScryptCost } from './crypto/scrypt-password-hasher';
import { createSecretSealer } from './crypto/sealed-secrets';
import { systemSecrets } from './crypto/secrets';
import { createOidcIdentityProvider } from './openid-client/identity-provider';
import { otpauthTotp } from './otpauth/totp';
import { createPostgresAttemptCounter } from './postgres/attempt-counter';
import { createPostgresEdgeLeases } from './postgres/edge-leases';
import { createHousekeeping } from './postgres/housekeeping';
import { createResealing } from './postgres/reseal-secrets';
import { createPostgresInvalidationFeed } from './postgres/invalidation-feed';
import { createPostgresKeyVerifier } from './postgres/key-verifier';
import { createPrismaAuditStore } from './prisma/audit-store';
import { createAuthPrisma } from './prisma/client';
import { createPrismaDomainStore } from './prisma/domain-store';
import { createPrismaIdentityStore } from './prisma/identity-store';
import { createPrismaKeyStore } from './prisma/key-store';
import { createPrismaInvitationStore } from './prisma/invitation-store';
import { createPrismaMemberStore } from './prisma/member-store';
import { createPrismaMembershipStore } from './prisma/membership-store';
import { createPrismaOrganizationStore } from './prisma/organization-store';
import { createPrismaPasswordResetStore } from './prisma/password-reset-store';
import { createPrismaSecondFactorStore } from './prisma/second-factor-store';
import { createPrismaSessionStore } from './prisma/session-store';
import { createPrismaSignOnStore } from './prisma/sign-on-store';

export interface AuthAdapterOptions {
  /** Of the schema `auth`, migrated. Needs at least 4 connections. The caller ends it. */
  readonly pool: Pool;
  /** One of its connections is kept for LISTEN; `pool` when absent, which a pooler may not stand before then. */
  readonly sessions?: Pool | undefined;
  readonly log: Logger;
  /** Lower it in tests only. */
  readonly scryptCost?: ScryptCost;
  /** Absent: nothing is mailed, and links are handed over by people. */
  readonly mailer?: Mailer | undefined;
  /** Absent: there is no single sign-on. */
  readonly oidc?: OidcSettings | undefined;
  /** As `makeSealingKey` writes them: the first seals secrets, all open. Absent: nobody begins with a second factor. */
  readonly sealingKeys?: readonly string[] | undefined;
}

export type AuthAdapters = Omit<AuthPorts, 'clock' | 'newId' | 'settings'> & {
  /** Starts following invalidations, and tidying up. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** Every port of the domain, over one PostgreSQL pool. */
export function createAuthAdapters({
  pool,
  sessions = pool,
  log,
  scryptCost,
  mailer,
  oidc,
  sealingKeys,
}: AuthAdapterOptions): AuthAdapters {
  const prisma = createAuthPrisma(pool);
  const feed = createPostgresInvalidationFeed({ pool, sessions, log });
  const housekeeping = createHousekeeping({ pool, log });
  const sealer = sealingKeys && createSecretSealer(sealingKeys);
  const resealing = createResealing({ pool, sealer, log });
  return {
    organizations: createPrismaOrganizationStore(prisma),
    keys: createPrismaKeyStore(prisma),
    keyVerifier: createPostgresKeyVerifier(pool),
    members: createPrismaMemberStore(prisma),
    invitations: createPrismaInvitationStore(prisma),
    passwordResets: createPrismaPasswordResetStore(prisma),
    secondFactors: createPrismaSecondFactorStore(prisma),
    totp: otpauthTotp,
    ...(mailer ? { mailer } : {}),
    identities: createPrismaIdentityStore(prisma),
    domains: createPrismaDomainStore(prisma),
    signOns: createPrismaSignOnStore(prisma),
    ...(oidc ? { identityProvider: createOidcIdentityProvider(oidc, systemClock) } : {}),
    log,
    memberships: createPrismaMembershipStore(prisma),
    sessions: createPrismaSessionStore(prisma),
    attempts: createPostgresAttemptCounter(pool),
    audit: createPrismaAuditStore(prisma),
    passwords: createScryptPasswordHasher(scryptCost),
    secrets: systemSecrets,
    ...(sealer ? { sealer } : {}),
    addressRanges: { canonical: canonicalRange, countedAs: networkOf },
    leases: createPostgresEdgeLeases(pool),
    feed,
    async start() {
      await feed.start();
      housekeeping.start();
      resealing.start();
    },
    async stop() {
      await feed.stop();
      await housekeeping.stop();
      await resealing.stop();
      await prisma.$disconnect();
    },
  };
}
