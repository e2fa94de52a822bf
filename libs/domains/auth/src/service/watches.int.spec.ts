import type { WatchInvalidationsResponse } from '@gateway/contracts/auth';
import { createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

describe('watches and leases', () => {
  let fixture: AuthFixture;

  beforeAll(async () => {
    fixture = await createAuthFixture({ settings: { leaseMs: 600_000 } });
  });
  afterAll(() => fixture.stop());

  /** Opens a watch and reads its first message. */
  async function openWatch(edgeId: string, { auth }: Pick<AuthFixture, 'auth'> = fixture) {
    const closing = new AbortController();
    const stream = auth.watchInvalidations({ edgeId }, { signal: closing.signal })[Symbol.asyncIterator]();
    const next = async (): Promise<WatchInvalidationsResponse> => {
      const { value, done } = await stream.next();
      if (done) throw new Error('the watch ended');
      return value;
    };
    const first = await next();
    return {
      first,
      next,
      async close() {
        closing.abort(new Error('closed'));
        await stream.next().catch(() => undefined);
      },
    };
  }

  const suspend = (organizationId: string, suspended = true) => fixture.suspend(organizationId, suspended);

  it('start with an invalidation of everything, then send each change once, in order, at every replica', async () => {
    const second = await fixture.startReplica();
    const watches = [await openWatch('edge-1'), await openWatch('edge-2', second)];
    const organizations = [];
    for (let index = 0; index < 3; index += 1) organizations.push(await fixture.organization());
    const changes = organizations.map(({ id }) => suspend(id));
    for (const [index, watch] of watches.entries()) {
      expect(watch.first.target).toEqual({ $case: 'all', value: {} });
      const received: string[] = [];
      let acknowledgedSequence = watch.first.sequence;
      for (let count = 0; count < 3; count += 1) {
        const { sequence, target } = await watch.next();
        expect(sequence).toBe(acknowledgedSequence + 1n);
        acknowledgedSequence = sequence;
        if (target?.$case === 'organizationId') received.push(target.value);
      }
      expect(received.sort()).toEqual(organizations.map(({ id }) => id).sort());
      await fixture.auth.renewLease({ edgeId: `edge-${index + 1}`, acknowledgedSequence });
    }
    await Promise.all(changes);
    for (const watch of watches) await watch.close();
    await fixture.pool.query('delete from edge_leases');
  });

  it('complete a change only when the edge has acknowledged it', async () => {
    const watch = await openWatch('edge-3');
    const { id } = await fixture.organization();
    let completed = false;
    const change = suspend(id).then(() => (completed = true));
    const { sequence } = await watch.next();
    await fixture.auth.renewLease({ edgeId: 'edge-3', acknowledgedSequence: sequence - 1n });
    await fixture.organization();
    expect(completed).toBe(false);
    await fixture.auth.renewLease({ edgeId: 'edge-3', acknowledgedSequence: sequence });
    await change;
    await watch.close();
    await fixture.pool.query('delete from edge_leases');
  });

  it('renew a lease only while its watch is open', async () => {
    const unknown = { edgeId: 'edge-unknown', acknowledgedSequence: 0n };
    expect((await fixture.auth.renewLease(unknown)).leaseMs).toBe(0);
    const watch = await openWatch('edge-4');
    const renewal = { edgeId: 'edge-4', acknowledgedSequence: watch.first.sequence };
    expect((await fixture.auth.renewLease(renewal)).leaseMs).toBeGreaterThan(0);
    await watch.close();
    let leaseMs = 1;
    while (leaseMs > 0) ({ leaseMs } = await fixture.auth.renewLease(renewal));
    await fixture.pool.query('delete from edge_leases');
  });

  it('never resume an expired lease', async () => {
    const watch = await openWatch('edge-5');
    await fixture.pool.query(
      `update edge_leases set expires_at = clock_timestamp() where edge_id = 'edge-5'`,
    );
    const renewal = { edgeId: 'edge-5', acknowledgedSequence: watch.first.sequence };
    expect((await fixture.auth.renewLease(renewal)).leaseMs).toBe(0);
    await watch.close();
    await fixture.pool.query('delete from edge_leases');
  });

  it('receive changes again after the listening connection was lost', async () => {
    const watch = await openWatch('edge-6');
    const { rowCount } = await fixture.pool.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen %'`);
    expect(rowCount).toBeGreaterThan(0);
    const { id } = await fixture.organization();
    const change = suspend(id);
    const { sequence, target } = await watch.next();
    expect(target).toEqual({ $case: 'organizationId', value: id });
    await fixture.auth.renewLease({ edgeId: 'edge-6', acknowledgedSequence: sequence });
    await change;
    await watch.close();
    await fixture.pool.query('delete from edge_leases');
  });

  it('receive changes also after the database lost the latest ones, and do not count them as acknowledged', async () => {
    const edgeId = 'edge-7';
    const watch = await openWatch(edgeId);
    const start = watch.first.sequence;
    for (const acknowledgedSequence of [start + 1n, start + 2n]) {
      const { id } = await fixture.organization();
      const change = suspend(id);
      expect((await watch.next()).sequence).toBe(acknowledgedSequence);
      await fixture.auth.renewLease({ edgeId, acknowledgedSequence });
      await change;
    }
    // As a failover to an asynchronous standby does, or a restore.
    await fixture.pool.query('delete from invalidations where sequence > $1', [start]);
    await fixture.pool.query('update edge_leases set acknowledged_sequence = $1', [start]);
    await fixture.pool.query('update invalidation_counter set last = $1', [start]);

    const { id } = await fixture.organization();
    let completed = false;
    const change = suspend(id).then(() => (completed = true));
    const stale = { edgeId, acknowledgedSequence: start + 2n };
    expect((await fixture.auth.renewLease(stale)).leaseMs).toBe(0);
    let sequence = start;
    while (sequence !== start + 1n) ({ sequence } = await watch.next());
    expect(completed).toBe(false);
    await fixture.auth.renewLease({ edgeId, acknowledgedSequence: sequence });
    await change;
    await watch.close();
    await fixture.pool.query('delete from edge_leases');
  });
});
