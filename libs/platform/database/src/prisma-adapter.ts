import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';

/**
 * Lets a Prisma client use the domain's own pool:
 * `new PrismaClient({ adapter: createPrismaAdapter(pool, 'auth') })`. The pool
 * stays the caller's to end.
 */
export function createPrismaAdapter(pool: Pool, schema: string): PrismaPg {
  return new PrismaPg(pool, { schema, disposeExternalPool: false });
}
