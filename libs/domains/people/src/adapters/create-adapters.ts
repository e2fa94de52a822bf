import { networkOf } from '@gateway/addresses';
import {
  auditEntryRow,
  createMaintenance,
  systemSecrets,
  type AuthPrisma,
} from '@gateway/auth-shared/adapters';
import type { Clock, Mailer } from '@gateway/base';
import { systemClock, type Logger } from '@gateway/runtime';
import { createSecretCipher } from '@gateway/secrets';
import type { Pool } from 'pg';
import type { PeoplePorts } from '../core/ports';
import type { OidcSettings } from '../core/single-sign-on/ports';
import { createScryptPasswordHasher, type ScryptCost } from './crypto/scrypt-password-hasher';
import { createOidcIdentityProvider } from './openid-client/identity-provider';
import { createBackgroundWork } from './memory/background-work';
import { otpauthTotp } from './otpauth/totp';
import { createPostgresAttemptCounter } from './postgres/attempt-counter';
import { createReencryption } from './postgres/reencrypt-secrets';
import { createPrismaDomainStore } from './prisma/domain-store';
import { createPrismaIdentityStore } from './prisma/identity-store';
import { createPrismaInvitationStore } from './prisma/invitation-store';
import { createPrismaManagementTokenStore } from './prisma/management-token-store';
import { createPrismaMemberStore } from './prisma/member-store';
import { createPrismaMembershipStore } from './prisma/membership-store';
import { createPrismaPasswordResetStore } from './prisma/password-reset-store';
import { createPrismaSecondFactorStore } from './prisma/second-factor-store';
import { createPrismaSessionStore } from './prisma/session-store';
import { createPrismaSignOnStore } from './prisma/sign-on-store';
import { createZxcvbnPasswordStrength } from './zxcvbn/password-strength';

export interface PeopleAdapterOptions {
  /** A pool of the migrated schema `auth`. The caller ends it. */
  readonly pool: Pool;
  readonly prisma: AuthPrisma;
  readonly clock: Clock;
  readonly log: Logger;
  /** Lower it in tests only. */
  readonly scryptCost?: ScryptCost | undefined;
  /** Absent: no email is sent; links are shown to the person who creates them. */
  readonly mailer?: Mailer | undefined;
  /** Absent: single sign-on is disabled. */
  readonly oidc?: OidcSettings | undefined;
  /** From `createEncryptionKey`: the first key encrypts, all decrypt. Absent: no second factor can be enrolled. */
  readonly encryptionKeys?: readonly string[] | undefined;
}

export type PeopleAdapters = Omit<
  PeoplePorts,
  'clock' | 'newId' | 'settings' | 'organizations' | 'leases' | 'feed'
> & {
  /** Starts the deletion of expired rows and the re-encryption of secrets with the current key. */
  start(): void;
  stop(): Promise<void>;
};

/** $1 now, by the clock that set when the rows expire. */
const DELETE_EXPIRED = [
  `delete from sessions where expires_at < $1`,
  `delete from oidc_flows where expires_at < $1`,
  `delete from password_resets where expires_at < $1`,
  `delete from sign_in_attempts where window_ends_at < $1`,
];

/** The ports of members, sign-in and permissions, over the auth service's database. */
export function createPeopleAdapters(options: PeopleAdapterOptions): PeopleAdapters {
  const { pool, prisma, clock, log, mailer, oidc } = options;
  const maintenance = createMaintenance({ pool, log, statements: DELETE_EXPIRED, clock });
  const cipher = options.encryptionKeys && createSecretCipher(options.encryptionKeys);
  const reencryption = createReencryption({ pool, cipher, log });
  const background = createBackgroundWork(log);
  return {
    members: createPrismaMemberStore(prisma),
    memberships: createPrismaMembershipStore(prisma),
    managementTokens: createPrismaManagementTokenStore(prisma),
    invitations: createPrismaInvitationStore(prisma),
    passwordResets: createPrismaPasswordResetStore(prisma),
    secondFactors: createPrismaSecondFactorStore(prisma),
    totp: otpauthTotp,
    identities: createPrismaIdentityStore(prisma),
    domains: createPrismaDomainStore(prisma),
    signOns: createPrismaSignOnStore(prisma),
    ...(oidc ? { identityProvider: createOidcIdentityProvider(oidc, systemClock) } : {}),
    ...(mailer ? { mailer } : {}),
    log,
    auditLog: {
      insert: async (entry) => void (await prisma.auditEntry.create({ data: auditEntryRow(entry) })),
    },
    background,
    sessions: createPrismaSessionStore(prisma),
    attempts: createPostgresAttemptCounter(pool),
    passwords: createScryptPasswordHasher(options.scryptCost),
    passwordStrength: createZxcvbnPasswordStrength(),
    secrets: systemSecrets,
    ...(cipher ? { cipher } : {}),
    addressRanges: { networkOf },
    start() {
      maintenance.start();
      reencryption.start();
    },
    async stop() {
      await background.stop();
      await maintenance.stop();
      await reencryption.stop();
    },
  };
}
