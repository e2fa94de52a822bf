import { createPrismaAdapter } from '@gateway/database';
import { BILLING_LEDGER_SCHEMA } from '../postgres/ledger-store';
import { createLedgerRig, type LedgerRig } from '../../testing/ledger-rig';
import { Prisma, PrismaClient } from './generated/client';

let rig: LedgerRig;

beforeAll(async () => {
  rig = await createLedgerRig();
});

afterAll(async () => {
  await rig.close();
});

it.each([
  ['account', 'accounts', Prisma.AccountScalarFieldEnum],
  ['posting', 'postings', Prisma.PostingScalarFieldEnum],
  ['credit', 'credits', Prisma.CreditScalarFieldEnum],
  ['openHold', 'open_holds', Prisma.OpenHoldScalarFieldEnum],
  ['closedHold', 'closed_holds', Prisma.ClosedHoldScalarFieldEnum],
  ['closedHoldRetention', 'closed_hold_retention', Prisma.ClosedHoldRetentionScalarFieldEnum],
  ['dailySpend', 'daily_spend', Prisma.DailySpendScalarFieldEnum],
  ['idempotencyClaim', 'idempotency_claims', Prisma.IdempotencyClaimScalarFieldEnum],
] as const)('the Prisma model %s has just the columns of its table', async (model, table, fields) => {
  const prisma = new PrismaClient({ adapter: createPrismaAdapter(rig.first.pool, BILLING_LEDGER_SCHEMA) });
  // Reads every field of the model, and so fails on a column that is not there.
  await (prisma[model] as { findFirst(): Promise<unknown> }).findFirst();
  const { rows } = await rig.auditPool.query<{ column_name: string }>(
    'select column_name from information_schema.columns where table_schema = $1 and table_name = $2',
    [BILLING_LEDGER_SCHEMA, table],
  );
  const columns = rows.map(({ column_name }) => column_name.replaceAll('_', '')).sort();
  expect(columns).toEqual(
    Object.keys(fields)
      .map((field) => field.toLowerCase())
      .sort(),
  );
});
