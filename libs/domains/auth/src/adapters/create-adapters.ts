import { canonicalRange } from '@gateway/addresses';
import { createAuditEntries, type AuditEntries } from '@gateway/audit';
import {
  AUTH_SCHEMA,
  createAuthPrisma,
  createMaintenance,
  systemSecrets,
} from '@gateway/auth-shared/adapters';
import { createPeopleAdapters, type PeopleAdapterOptions, type PeopleAdapters } from '@gateway/people';
import type { Pool } from 'pg';
import type { AuthPorts } from '../core/ports';
import { createPostgresBudgetReader } from './postgres/budget-reader';
import { createPostgresEdgeLeases } from './postgres/edge-leases';
import { createPostgresInvalidationFeed } from './postgres/invalidation-feed';
import { createPostgresKeyVerifier } from './postgres/key-verifier';
import { createPrismaKeyStore } from './prisma/key-store';
import { createPrismaOrganizationStore } from './prisma/organization-store';
import { createPrismaProjectStore } from './prisma/project-store';

/** `pool` needs at least 4 connections. */
export interface AuthAdapterOptions extends Omit<PeopleAdapterOptions, 'prisma'> {
  /** Holds one connection for LISTEN, which a transaction pooler does not support. Defaults to `pool`. */
  readonly sessions?: Pool | undefined;
}

export type AuthAdapters = Omit<AuthPorts, 'clock' | 'newId' | 'settings'> & {
  readonly people: PeopleAdapters;
  readonly audit: AuditEntries;
  /** Starts the invalidation feed and the deletion of expired rows. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** One hour is far longer than any lease, so no valid lease is affected. */
const DELETE_EXPIRED = [
  `delete from invalidations where created_at < clock_timestamp() - interval '1 hour'`,
  `delete from edge_leases where expires_at < clock_timestamp() - interval '1 hour'`,
];

/** The ports of the whole auth service, over one PostgreSQL pool. */
export function createAuthAdapters(options: AuthAdapterOptions): AuthAdapters {
  const { pool, sessions = pool, log } = options;
  const prisma = createAuthPrisma(pool);
  const feed = createPostgresInvalidationFeed({ pool, sessions, log });
  const maintenance = createMaintenance({ pool, log, statements: DELETE_EXPIRED });
  const people = createPeopleAdapters({ ...options, prisma });
  return {
    organizations: createPrismaOrganizationStore(prisma),
    keys: createPrismaKeyStore(prisma),
    projects: createPrismaProjectStore(prisma),
    keyVerifier: createPostgresKeyVerifier(pool),
    budgets: createPostgresBudgetReader(pool),
    audit: createAuditEntries(pool, AUTH_SCHEMA),
    secrets: systemSecrets,
    addressRanges: { canonical: canonicalRange },
    leases: createPostgresEdgeLeases(pool),
    feed,
    people,
    async start() {
      await feed.start();
      maintenance.start();
      people.start();
    },
    async stop() {
      await feed.stop();
      await maintenance.stop();
      await people.stop();
      await prisma.$disconnect();
    },
  };
}
