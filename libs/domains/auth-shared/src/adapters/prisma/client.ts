import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import { PrismaClient, type Prisma } from './generated/client';
import { AUTH_SCHEMA } from './schema';

export type AuthPrisma = PrismaClient;
export type AuthTransaction = Prisma.TransactionClient;

/** Longer than the timeouts of the pool and of its statements, which Prisma's defaults of 2 and 5 seconds would precede. */
const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 30_000 };

/** A Prisma client over the domain's own pool. The caller ends the pool. */
export function createAuthPrisma(pool: Pool): AuthPrisma {
  return new PrismaClient({
    adapter: new PrismaPg(pool, { schema: AUTH_SCHEMA, disposeExternalPool: false }),
    transactionOptions: TRANSACTION_OPTIONS,
  });
}
