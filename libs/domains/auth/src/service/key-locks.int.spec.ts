import { parts } from '@gateway/dashboard-contract';
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
    const person = { email: 'ada@example.com', password: PASSWORD };
    await fixture.member(person.email, PASSWORD);
    const signedIn = await fixture.admin.signIn({ ...person, ipAddress: '192.0.2.1', device: '' });
    if (signedIn.outcome?.$case !== 'signedIn') throw new Error('the sign-in was refused');
    const { sessionToken, member } = signedIn.outcome.value;
    const { session } = await fixture.admin.getSession({ sessionToken });
    const actor = { id: member?.id ?? '', label: person.email, ipAddress: '192.0.2.1' };
    const key = async () => {
      const { id: organizationId } = await fixture.organization();
      const client = fixture.endpointsAs({ ...actor, sessionId: session?.id ?? '' });
      const params = { organization_id: organizationId };
      return (await client.call(parts.playgroundKey, { params, body: {} })).key_id;
    };
    const [first, second] = [await key(), await key()];
    const signOut = () => fixture.admin.signOut({ sessionToken });
    expect(await locksSecondBefore(first, second, signOut)).toBe(false);
  });
});
