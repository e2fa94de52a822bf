import { auditLedger } from '@gateway/ledger-audit';
import type { BenchDatabase } from '../bench-database';
import { COST_NANO_USD } from './synthetic-batches';

/** Audits the ledger, and compares it with what the bench has settled. */
export async function checkLedger(
  { ledgerPool, eventPool }: Pick<BenchDatabase, 'ledgerPool' | 'eventPool'>,
  settled: number,
): Promise<{ readonly exact: boolean; readonly text: string }> {
  const audit = await auditLedger(ledgerPool);
  const { rows } = await eventPool.query<{ announced: bigint }>('select count(*) as announced from events');
  const expected = BigInt(settled) * COST_NANO_USD;
  const problems = [
    ...audit.faults,
    ...(audit.settledGenerations === settled ? [] : [`${audit.settledGenerations} are settled`]),
    ...(audit.totals.charged === expected
      ? []
      : [`charged ${audit.totals.charged} nano-dollars, not ${expected}`]),
    ...(audit.openHolds === 0 ? [] : [`${audit.openHolds} holds are left`]),
    ...(rows[0]?.announced === BigInt(settled) ? [] : [`${rows[0]?.announced} are announced`]),
  ];
  const exact = problems.length === 0;
  const generations = `${settled.toLocaleString('en')} generations`;
  return {
    exact,
    text: exact
      ? `exact. ${generations} were charged and announced once; no holds are left.`
      : `WRONG after ${generations}: ${problems.join('; ')}.`,
  };
}
