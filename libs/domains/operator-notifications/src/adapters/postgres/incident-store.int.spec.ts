import { AUTH_SCHEMA, authSchema } from '@gateway/auth-shared/adapters';
import { withTimeout, type Incident, type UnixMs } from '@gateway/base';
import { applyMigrations, createPool } from '@gateway/database';
import { newId } from '@gateway/runtime';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { CONTRACT_TIMING, describeIncidentStore } from '../../testing/incident-store.contract';
import { createPostgresIncidentStore } from './incident-store';

let database: TestDatabase;
let pools: readonly Pool[];

beforeAll(async () => {
  database = await createTestDatabase();
  const options = { url: database.url, schema: AUTH_SCHEMA, applicationName: 'test', maxConnections: 4 };
  pools = [createPool(options), createPool(options)];
  await applyMigrations(pools[0] as Pool, authSchema);
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

const open = (pool: Pool) =>
  createPostgresIncidentStore({ pool, timing: CONTRACT_TIMING, newId: () => newId('ntf') });
const empty = () =>
  (pools[0] as Pool).query('truncate incidents, operator_notifications, notification_deliveries');

describeIncidentStore('PostgreSQL', async () => {
  await empty();
  return open(pools[0] as Pool);
});

describe('two receivers', () => {
  it('store and deliver each notification once', async () => {
    await empty();
    const receivers = pools.map(open);
    // Longer than the test, so that it only opens.
    const lasting = { ...CONTRACT_TIMING, recoveredAfterMs: 600_000 };
    const deciding = pools.map((pool) =>
      createPostgresIncidentStore({ pool, timing: lasting, newId: () => newId('ntf') }),
    );
    const incident: Incident = { cause: 'dead_letters', subject: 'generation.finished', details: '1' };
    await Promise.all(receivers.map((receiver) => receiver.report([incident])));
    const rounds = Array.from({ length: 10 }, () => deciding).flat();
    const decided = await Promise.all(
      rounds.map((receiver) => receiver.decide(['ops@example.com', 'webhook'], 0 as UnixMs)),
    );
    expect(decided.flat()).toMatchObject([{ kind: 'opened', cause: 'dead_letters' }]);
    const claimed = await Promise.all(rounds.map((receiver) => receiver.claimDue(10)));
    expect(
      claimed
        .flat()
        .map(({ recipient }) => recipient)
        .sort(),
    ).toEqual(['ops@example.com', 'webhook']);
  });

  it('do not wait for deliveries that the other is claiming', async () => {
    await empty();
    const [first, second] = pools.map(open);
    await first?.report([{ cause: 'dead_letters', subject: 's', details: 'd' }]);
    await first?.decide(['webhook'], 0 as UnixMs);
    const claiming = await (pools[0] as Pool).connect();
    await claiming.query('begin');
    await claiming.query('select from notification_deliveries for update');
    try {
      expect(await withTimeout(second?.claimDue(10) ?? Promise.reject(), 5_000, 'claiming')).toEqual([]);
    } finally {
      await claiming.query('rollback');
      claiming.release();
    }
    expect(await second?.claimDue(10)).toHaveLength(1);
  });

  it('do not claim a failed delivery before its retry is due', async () => {
    await empty();
    const [first, second] = pools.map(open);
    await first?.report([{ cause: 'dead_letters', subject: 's', details: 'd' }]);
    await first?.decide(['webhook'], 0 as UnixMs);
    const [delivery] = (await first?.claimDue(1)) ?? [];
    await first?.recordDelivery(delivery as never, 'The webhook returned status 500.');
    expect(await second?.claimDue(1)).toEqual([]);
    const { rows } = await (pools[0] as Pool).query(
      'select failure, attempts, due_at is not null as due from notification_deliveries',
    );
    expect(rows).toEqual([{ failure: 'The webhook returned status 500.', attempts: 1, due: true }]);
  });
});
