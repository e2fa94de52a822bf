import { inTransaction } from '@gateway/database';
import { collector, event, textsOf } from '../event-log.contract';
import { createEventLogFixture, type EventLogFixture, type OpenLog } from './testing/event-log-fixture';

const ignore = () => undefined;

let fixture: EventLogFixture;

beforeAll(async () => {
  fixture = await createEventLogFixture();
});

afterAll(() => fixture.close());

describe('events of this process', () => {
  let log: OpenLog;

  beforeEach(async () => {
    await fixture.reset();
    log = fixture.openLog();
  });

  /** Returns a row once the group has committed the first event. */
  const COMMITTED = `select from consumer_groups where topic = 't' and position = 1`;

  /** A subscription whose handler blocks in its first batch until it is released. */
  async function subscribeBlocked(of: OpenLog) {
    const seen = collector();
    let release: () => void = ignore;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    const handle = async (events: Parameters<typeof seen.handle>[0]) => {
      await seen.handle(events);
      await blocked;
    };
    await of.subscribe({ topic: 't', group: 'g', handle });
    await of.append('t', [event('a', 'first')]);
    await seen.atLeast(1);
    return { seen, release };
  }

  it('reach its consumer without a read of the database', async () => {
    const { seen, release } = await subscribeBlocked(log);
    await log.append('t', [event('a', 'appended'), event('b', 'next to it')]);
    const append = log.appending('t', [event('a', 'in a transaction')]);
    await inTransaction(fixture.admin, (client) => append.write(client));
    append.committed();
    await fixture.admin.query(`update events set payload = 'read back' where position > 1`);
    release();
    const texts = ['first', 'appended', 'next to it', 'in a transaction'];
    expect(textsOf(await seen.atLeast(4))).toEqual(texts);
    expect(await log.drain(10_000)).toBe(true);
    expect(textsOf(await seen.atLeast(4))).toEqual(texts);
  });

  it('are delivered only after their commit', async () => {
    const { seen, release } = await subscribeBlocked(log);
    const rolledBack = inTransaction(fixture.admin, async (client) => {
      await log.appending('t', [event('a', 'rolled back')]).write(client);
      release();
      while ((await client.query(COMMITTED)).rowCount === 0);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await log.append('t', [event('a', 'next')]);
    expect(textsOf(await seen.atLeast(2))).toEqual(['first', 'next']);
  });

  it('are read from the database beyond the limit of the buffer', async () => {
    const small = fixture.openLog({ maxBufferedBytes: 1 });
    const { seen, release } = await subscribeBlocked(small);
    for (const text of ['second', 'third', 'fourth']) await small.append('t', [event('a', text)]);
    release();
    expect(textsOf(await seen.atLeast(4))).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('keep their order among events of other processes', async () => {
    const other = fixture.openLog();
    const seen = collector();
    await log.subscribe({ topic: 't', group: 'g', maxBatchSize: 3, handle: seen.handle });
    const write = async (by: OpenLog, name: string) => {
      for (let number = 0; number < 50; number += 1)
        await by.append('t', [event('a', `${name} ${number}`), event('b', `${name} ${number}`)]);
    };
    await Promise.all([write(log, 'own'), write(other, 'foreign'), write(log, 'own too')]);
    const positions = (await seen.atLeast(300)).map(({ position }) => position);
    expect(positions).toEqual(Array.from({ length: 300 }, (_, index) => BigInt(index + 1)));
  });

  it('are not delivered to a consumer that lost its lock, also while it lingers', async () => {
    const seen = collector();
    const victim = fixture.openLog({ lingerMs: 500 }, 'victim');
    await victim.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    await victim.append('t', [event('a', 'first')]);
    while ((await fixture.admin.query(COMMITTED)).rowCount === 0);
    await log.subscribe({ topic: 't', group: 'g', handle: seen.handle });
    await fixture.terminateConnections('victim');
    await log.append('t', [event('a', 'second')]);
    expect(textsOf(await seen.atLeast(2))).toEqual(['first', 'second']);
    await victim.append('t', [event('a', 'third')]);
    // It has reconnected, and tries to get the lock that another member holds.
    const retriesLock = `select from pg_stat_activity where application_name = 'victim' and query like '%try_advisory%'`;
    while ((await fixture.admin.query(retriesLock)).rowCount === 0);
    expect(textsOf(await seen.atLeast(3))).toEqual(['first', 'second', 'third']);
  });

  it('are notified only if a group of the topic is led by another process', async () => {
    const here = collector();
    const there = collector();
    const other = fixture.openLog();
    await log.subscribe({ topic: 'own', group: 'g', handle: here.handle });
    await log.subscribe({ topic: 'shared', group: 'g', handle: here.handle });
    await other.subscribe({ topic: 'shared', group: 'elsewhere', handle: there.handle });
    await log.append('own', [event('a', 'one')]);
    await log.append('shared', [event('a', 'two')]);
    await there.atLeast(1);
    await here.atLeast(2);
    // Listens only after all groups have leaders.
    const notified: string[] = [];
    const listener = await fixture.admin.connect();
    listener.on('notification', ({ payload }) => notified.push(payload ?? ''));
    await listener.query('listen event_log');
    await log.append('own', [event('a', 'three')]);
    await log.append('shared', [event('a', 'four')]);
    await other.append('own', [event('a', 'five')]);
    // Earlier notifications arrive before its response.
    await listener.query('select');
    listener.release(true);
    expect(notified).toEqual(['shared', 'own']);
    expect(textsOf(await here.atLeast(5)).sort()).toEqual(['five', 'four', 'one', 'three', 'two']);
    expect(textsOf(await there.atLeast(2))).toEqual(['two', 'four']);
  });
});
