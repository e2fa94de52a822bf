import { endpoints, parts } from '@gateway/dashboard-contract';
import { createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

const PASSWORD = 'correct horse battery';

describe('changes of several keys', () => {
  let fixture: AuthFixture;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  afterAll(() => fixture.stop());

  /** Runs `change` while another transaction has locked the first key; returns whether it locked the second before. */
  async function locksSecondBefore(firstId: string, secondId: string, change: () => Promise<unknown>) {
    // A scan of the table, which PostgreSQL chooses for so few rows, finds its latest version behind the second key.
    await fixture.pool.query('update api_keys set name = name where id = $1', [firstId]);
    await fixture.pool.query('analyze api_keys');
    const holder = await fixture.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from api_keys where id = $1 for update', [firstId]);
      const changed = change();
      const waiting = `select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      while ((await fixture.pool.query(waiting)).rowCount === 0);
      const free = 'select 1 from api_keys where id = $1 for update skip locked';
      const { rowCount } = await holder.query(free, [secondId]);
      await holder.query('rollback');
      await changed;
      return rowCount === 0;
    } finally {
      holder.release();
    }
  }

  it('lock them in the order of their ids when the limits of the organization fall', async () => {
    const { id: organizationId } = await fixture.organization();
    const keyWithLimit = async () => (await fixture.key(organizationId, { requestsPerMinute: 50 })).id;
    const [first, second] = [await keyWithLimit(), await keyWithLimit()];
    const lower = () => fixture.setLimits(organizationId, { requestsPerMinute: 10 });
    expect(await locksSecondBefore(first, second, lower)).toBe(false);
  });

  it('lock them in the order of their ids when a session with keys of several organizations ends', async () => {
    const email = 'ada@example.com';
    await fixture.member(email, PASSWORD);
    const { session_token: token } = await fixture.signIn(email, PASSWORD);
    const client = await fixture.endpointsOf(token);
    const key = async () => {
      const { id: organizationId } = await fixture.organization();
      const params = { organization_id: organizationId };
      return (await client.call(parts.playgroundKey, { params, body: {} })).key_id;
    };
    const [first, second] = [await key(), await key()];
    const signOut = () => client.call(endpoints.session.signOut, { body: {} });
    expect(await locksSecondBefore(first, second, signOut)).toBe(false);
  });
});
