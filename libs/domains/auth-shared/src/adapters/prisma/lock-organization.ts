import type { AuthTransaction } from './client';

/** Locks the organization's row. Every transaction locks it before the rows of its keys. */
export async function lockOrganization(
  transaction: AuthTransaction,
  id: string,
  mode: 'for update' | 'for share',
): Promise<void> {
  if (mode === 'for update') {
    await transaction.$queryRaw`select 1 from organizations where id = ${id} for update`;
  } else {
    await transaction.$queryRaw`select 1 from organizations where id = ${id} for share`;
  }
}
