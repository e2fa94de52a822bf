import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import { PrismaClient, type Prisma } from './generated/client';
import { AUTH_SCHEMA } from './schema';

export type AuthPrisma = PrismaClient;
export type AuthTransaction = Prisma.TransactionClient;

/** A Prisma client over the domain's own pool. The caller ends the pool. */
export function createAuthPrisma(pool: Pool): AuthPrisma {
  return new PrismaClient({
    adapter: new PrismaPg(pool, { schema: AUTH_SCHEMA, disposeExternalPool: false }),
  });
}
