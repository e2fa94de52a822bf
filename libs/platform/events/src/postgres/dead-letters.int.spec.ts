import type { LoggedEvent } from '../event-log';
import { createPostgresDeadLetters, insertDeadLetters } from './dead-letters';
import { createEventLogFixture, type EventLogFixture } from './testing/event-log-fixture';

const GROUP = { topic: 'generation.finished', group: 'billing-ledger' };

describe('storing dead letters', () => {
  let fixture: EventLogFixture;
  beforeAll(async () => {
    fixture = await createEventLogFixture();
  });
  afterEach(() => fixture.reset());
  afterAll(() => fixture.close());

  const event = (position: bigint, changes: Partial<LoggedEvent> = {}): LoggedEvent => ({
    topic: GROUP.topic,
    position,
    key: 'org-1',
    payload: Buffer.from([0, 1, 255]),
    headers: { traceparent: '00-1' },
    ...changes,
  });

  async function store(...events: LoggedEvent[]) {
    const failed = events.map((each) => ({ event: each, reason: 'cannot be decoded' }));
    await insertDeadLetters(fixture.admin, GROUP, failed, 3, new Date(fixture.clock.now()));
    const letters = createPostgresDeadLetters(fixture.admin, fixture.clock);
    return Promise.all(events.map(({ position }) => letters.read({ ...GROUP, position })));
  }

  it('stores an event as it is', async () => {
    const [stored] = await store(event(1n));
    expect(stored).toMatchObject({ key: 'org-1', headers: { traceparent: '00-1' } });
    expect([...(stored?.payload ?? [])]).toEqual([0, 1, 255]);
  });

  it.each([
    ['a key with NUL', { key: 'a\0b' }, { key: 'a\uFFFDb' }],
    ['a header with NUL', { headers: { 'x-a': '1\0' } }, { headers: { 'x-a': '1\uFFFD' } }],
    ['a header with a lone surrogate', { headers: { 'x-a': '\ud800' } }, { headers: { 'x-a': '\uFFFD' } }],
    ['a key with a lone surrogate', { key: '\udc00' }, { key: '\uFFFD' }],
  ])('stores an event that has %s', async (_name, changes, expected) => {
    const [other, stored] = await store(event(1n), event(2n, changes));
    expect(stored).toMatchObject(expected);
    expect(other).toBeDefined();
  });

  it('stores an event once, and keeps another one at its position, as after its topic was created again', async () => {
    const payload = Buffer.from('of the new topic');
    await store(event(7n));
    await store(event(7n, { payload }));
    await store(event(7n, { payload }), event(8n));
    const { rows } = await fixture.admin.query<{ payload: Buffer }>(
      'select payload from dead_letters order by position % 100, position',
    );
    expect(rows).toHaveLength(3);
    expect(rows.map((row) => row.payload)).toEqual(
      expect.arrayContaining([event(7n).payload, payload, event(8n).payload]),
    );
  });

  it('stores an event without key and headers when the database refuses them, and the others as they are', async () => {
    await fixture.admin.query("alter table dead_letters add constraint no_such_key check (key <> 'refused')");
    try {
      const [first, stored, last] = await store(event(1n), event(2n, { key: 'refused' }), event(3n));
      for (const other of [first, last]) {
        expect(other).toMatchObject({ key: 'org-1', headers: { traceparent: '00-1' } });
      }
      expect(stored).toMatchObject({
        key: '',
        headers: {},
        reason: expect.stringMatching(/^cannot be decoded \(stored without key and headers: .*no_such_key/),
      });
      expect([...(stored?.payload ?? [])]).toEqual([0, 1, 255]);
    } finally {
      await fixture.admin.query('alter table dead_letters drop constraint no_such_key');
    }
  });
});
