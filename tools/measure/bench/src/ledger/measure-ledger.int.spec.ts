import { createPostgresLedgerStore } from '@gateway/billing-ledger';
import { createPool } from '@gateway/database';
import type { UnixMs } from '@gateway/base';
import { openBenchDatabase, openLog, type BenchDatabase } from '../bench-database';
import { checkLedger } from './check-ledger';
import { openLedger, WORKLOADS, type MeasuredLedger } from './measure-ledger';
import { countSessions } from './sample-waits';
import { announce, finishedOf, newHolds } from './synthetic-batches';

let database: BenchDatabase;
let ledger: MeasuredLedger;
let settled = 0;

beforeAll(async () => {
  database = await openBenchDatabase();
  ledger = await openLedger(database);
}, 60_000);

afterAll(async () => {
  await ledger.close();
  await database.remove();
}, 60_000);

it.each(WORKLOADS)('holds and settles exactly what it counts: %s', async (workload) => {
  const round = await ledger.measure({ workload, connections: 2, batch: 8 }, { warmUpMs: 0, windowMs: 300 });
  settled += round.settled;
  expect(round.settled).toBeGreaterThan(0);
  expect(await checkLedger(database, settled)).toMatchObject({ exact: true });
});

describe('a session of the ledger', () => {
  const clock = { now: () => Date.now() as UnixMs };

  it.each([
    ['account', `select from billing_ledger.accounts where organization_id = 'org-1' for update`],
    ['topic', `select from event_log.topics for update`],
  ] as const)('that waits for the row of its %s is counted as such', async (activity, lock) => {
    const admin = createPool({
      url: database.adminUrl,
      schema: 'public',
      applicationName: 'test',
      maxConnections: 2,
    });
    const log = openLog(database, clock);
    const store = createPostgresLedgerStore({ pool: database.ledgerPool, clock, appender: log });
    const holds = newHolds(['org-1'], clock.now());
    await store.holdCredit(holds);
    const locking = await admin.connect();
    await locking.query(`begin; ${lock}`);
    const settling = store.settleGenerations(holds.map(finishedOf), announce);
    while ((await countSessions(admin))[activity] === 0);
    expect(await countSessions(admin)).toEqual({
      running: 0,
      account: 0,
      topic: 0,
      wal: 0,
      other: 0,
      [activity]: 1,
    });
    await locking.query('commit');
    await settling;
    settled += 1;
    locking.release();
    await log.stop();
    await admin.end();
  });
});

it('reports a charge that the postings do not have', async () => {
  await database.ledgerPool.query(
    `update accounts set available_nano_usd = available_nano_usd - 1, charged_nano_usd = charged_nano_usd + 1
     where organization_id = 'org-1'`,
  );
  const check = await checkLedger(database, settled);
  expect(check).toMatchObject({ exact: false });
  expect(check.text).toContain('WRONG');
});
