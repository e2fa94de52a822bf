import { createHash } from 'node:crypto';
import { MemberRole } from '@gateway/contracts/auth';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

const MINUTE = 60_000;
const PASSWORD = 'correct horse battery';

describe('session keys', () => {
  const clock = createTestClock();
  let auth: AuthFixture;
  let organizationId: string;
  let people = 0;

  beforeAll(async () => {
    auth = await createAuthFixture({ clock, settings: { leaseMs: 60_000 } });
    organizationId = (await auth.organization()).id;
  });
  afterAll(() => auth.stop());

  /** A signed-in member with the role admin. */
  async function person() {
    const email = `person-${(people += 1)}@example.com`;
    const { member } = await auth.admin.ensureMember({
      ...{ email, password: PASSWORD },
      ...{ role: MemberRole.MEMBER_ROLE_MEMBER, resetPassword: false },
    });
    const id = member?.id ?? '';
    await auth.pool.query(`insert into memberships values ($1, $2, 'admin', now())`, [organizationId, id]);
    const { session_token: sessionToken } = await auth.signIn(email, PASSWORD);
    const { session_id: sessionId } = await auth.personOfSession(sessionToken);
    const actor = { id, label: email, ipAddress: '192.0.2.1', sessionId };
    return { actor, email, client: auth.endpointsAs(actor) };
  }
  type Person = Awaited<ReturnType<typeof person>>;

  const keyFor = ({ client }: Pick<Person, 'client'>) =>
    client.call(parts.playgroundKey, { params: { organization_id: organizationId }, body: {} });

  async function grantOf(secret: string) {
    const keySha256 = createHash('sha256').update(secret).digest();
    const { outcome } = await auth.auth.verifyKey({ keySha256 });
    return outcome?.$case === 'grant' ? outcome.value : undefined;
  }

  it('expire at a time that the grant contains, and not after the session', async () => {
    const ada = await person();
    const { secret, expires_at: expiresAt } = await keyFor(ada);
    const expires = clock.now() + 15 * MINUTE;
    expect(Date.parse(expiresAt)).toBe(expires);
    expect(await grantOf(secret)).toMatchObject({ revoked: false, expiresUnixMs: BigInt(expires) });
    const endOfSession = new Date(clock.now() + 5 * MINUTE);
    await auth.pool.query('update sessions set expires_at = $1 where id = $2', [
      endOfSession,
      ada.actor.sessionId,
    ]);
    expect((await keyFor(ada)).expires_at).toBe(endOfSession.toISOString());
  });

  it('end when the same session gets its next key in the organization', async () => {
    const ada = await person();
    const grace = await person();
    const [first, ofGrace] = [await keyFor(ada), await keyFor(grace)];
    const second = await keyFor(ada);
    expect(await grantOf(first.secret)).toMatchObject({ revoked: true });
    expect(await grantOf(second.secret)).toMatchObject({ revoked: false });
    expect(await grantOf(ofGrace.secret)).toMatchObject({ revoked: false });
  });

  const { people: ofPeople, session } = endpoints;
  const ofMember = ({ id }: Person['actor']) => ({
    params: { organization_id: organizationId, member_id: id },
  });
  const ENDINGS: [string, (person: Person) => Promise<unknown>][] = [
    ['the member signs out', ({ client }) => client.call(session.signOut, { body: {} })],
    [
      'the session is ended',
      ({ client, actor }) => client.call(session.end, { params: { session_id: actor.sessionId }, body: {} }),
    ],
    [
      'all other sessions are ended',
      ({ actor }) =>
        auth.endpointsAs({ ...actor, sessionId: 'another' }).call(session.endOthers, { body: {} }),
    ],
    [
      'the password is changed',
      ({ client }) =>
        client.call(parts.changePassword, {
          body: { current_password: PASSWORD, new_password: 'quite another one' },
        }),
    ],
    ['the password is reset', ({ email }) => auth.member(email, 'quite another one', true)],
    [
      'the member becomes an operator',
      ({ actor }) =>
        auth.endpoints.call(ofPeople.setOperator, {
          params: { member_id: actor.id },
          body: { operator: true },
        }),
    ],
    [
      'the member is removed from the organization',
      ({ actor }) => auth.endpoints.call(ofPeople.removeMember, { ...ofMember(actor), body: {} }),
    ],
    [
      'the member loses the permission',
      ({ actor }) =>
        auth.endpoints.call(ofPeople.setMemberRole, { ...ofMember(actor), body: { role: 'member' } }),
    ],
  ];

  it.each(ENDINGS)('end when %s, and are invalidated at edges', async (_what, endSession) => {
    const owner = await person();
    await auth.pool.query(`update memberships set role = 'owner' where member_id = $1`, [owner.actor.id]);
    const ada = await person();
    const [{ secret }, lasting] = [await keyFor(ada), await keyFor(owner)];
    const { rows: before } = await auth.pool.query<{ last: bigint }>('select last from invalidation_counter');
    await endSession(ada);
    expect(await grantOf(secret)).toMatchObject({ revoked: true });
    expect(await grantOf(lasting.secret)).toMatchObject({ revoked: false });
    const { rows } = await auth.pool.query<{ key_sha256: Buffer }>(
      'select key_sha256 from invalidations where sequence > $1',
      [before[0]?.last],
    );
    expect(rows.map(({ key_sha256: hash }) => hash.toString('hex'))).toContain(
      createHash('sha256').update(secret).digest('hex'),
    );
  });

  it.each(ENDINGS)('end before the response when %s: no edge accepts them then', async (_what, end) => {
    const owner = await person();
    await auth.pool.query(`update memberships set role = 'owner' where member_id = $1`, [owner.actor.id]);
    const ada = await person();
    await keyFor(ada);
    const abort = new AbortController();
    const watch = auth.auth.watchInvalidations({ edgeId: 'edge-1' }, { signal: abort.signal });
    const received = watch[Symbol.asyncIterator]();
    await received.next();
    let done = false;
    const ended = end(ada).then(() => (done = true));
    const { value } = await received.next();
    // Time for a response that does not wait for the edge.
    await owner.client.call(session.current);
    expect(done).toBe(false);
    await auth.auth.renewLease({ edgeId: 'edge-1', acknowledgedSequence: value?.sequence ?? 0n });
    await ended;
    abort.abort();
    await auth.pool.query('delete from edge_leases');
  });

  it('are not created for a member who was removed meanwhile', async () => {
    const ada = await person();
    const removal = await auth.pool.connect();
    try {
      await removal.query('begin');
      await removal.query('select 1 from organizations where id = $1 for update', [organizationId]);
      await removal.query('delete from memberships where member_id = $1', [ada.actor.id]);
      const created = keyFor(ada);
      const refused = expect(created).rejects.toMatchObject({ code: 'forbidden' });
      const waiting = `select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      while ((await auth.pool.query(waiting)).rowCount === 0);
      await removal.query('commit');
      await refused;
    } finally {
      removal.release();
    }
  });

  it('require an active session of the actor and the permission to use the playground', async () => {
    const [ada, grace] = [await person(), await person()];
    const refusalOf = (as: Pick<Person, 'client'>) =>
      keyFor(as).then(
        () => undefined,
        (error: Error) => error.message,
      );
    const other = auth.endpointsAs({ ...ada.actor, sessionId: grace.actor.sessionId });
    expect(await refusalOf({ client: other })).toBeDefined();
    await auth.pool.query(`update memberships set role = 'member' where member_id = $1`, [grace.actor.id]);
    expect(await refusalOf(grace)).toMatch(/role/);
    clock.advance(3 * 60 * MINUTE);
    expect(await refusalOf(ada)).toMatch(/Sign in/);
  });
});
