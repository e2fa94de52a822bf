import { createPrismaAdapter } from '@gateway/database';
import type { Pool } from 'pg';
import { PrismaClient, type Prisma } from './generated/client';

/** The schema that holds everything of this domain. */
export const AUTH_SCHEMA = 'auth';

export type AuthPrisma = PrismaClient;
export type AuthTransaction = Prisma.TransactionClient;

/** A Prisma client over the domain's own pool. The pool stays the caller's to end. */
export function createAuthPrisma(pool: Pool): AuthPrisma {
  return new PrismaClient({ adapter: createPrismaAdapter(pool, AUTH_SCHEMA) });
}
