import type { Pool } from 'pg';
import type { HoldRef } from '../../core/credit/hold';
import { textArray } from '@gateway/database';

const VOID_HOLDS = {
  name: 'billing_ledger.void_holds',
  text: 'select count(*)::integer as closed from void_holds($1, $2)',
};

const VOID_OVERDUE_HOLDS = {
  name: 'billing_ledger.void_overdue_holds',
  text: 'select count(*)::integer as closed from void_overdue_holds($1)',
};

export function voidHolds(pool: Pool, holds: readonly HoldRef[]): Promise<number> {
  return closedBy(pool, VOID_HOLDS, [
    textArray(holds, (hold) => hold.holdId),
    textArray(holds, (hold) => hold.organizationId),
  ]);
}

export function voidOverdueHolds(pool: Pool, limit: number): Promise<number> {
  return closedBy(pool, VOID_OVERDUE_HOLDS, [limit]);
}

async function closedBy(
  pool: Pool,
  statement: { name: string; text: string },
  values: (string | number)[],
): Promise<number> {
  const { rows } = await pool.query<{ closed: number }>({ ...statement, values });
  return rows[0]?.closed ?? 0;
}
