import { startOffsetOf } from './start-offset';

const NOTHING = { replayed: 0n, expired: 0n };

describe('a consumer starts', () => {
  it('at the committed offset when the database has all effects', () => {
    const start = startOffsetOf({ committed: 7n, stored: 7n, first: 0n, end: 9n });
    expect(start).toEqual({ offset: 7n, stored: 7n, ...NOTHING });
  });

  it('at the committed offset when the group was reset or a commit was lost, and keeps the stored one', () => {
    const start = startOffsetOf({ committed: 3n, stored: 7n, first: 0n, end: 9n });
    expect(start).toEqual({ offset: 3n, stored: 7n, ...NOTHING });
  });

  it('at the stored offset when the database lost the effects of committed events', () => {
    const start = startOffsetOf({ committed: 7n, stored: 4n, first: 0n, end: 9n });
    expect(start).toEqual({ offset: 4n, stored: 4n, replayed: 3n, expired: 0n });
  });

  it('at the first offset when Kafka has deleted events that the database needs, and counts them', () => {
    const start = startOffsetOf({ committed: 8n, stored: 4n, first: 6n, end: 9n });
    expect(start).toEqual({ offset: 6n, stored: 6n, replayed: 2n, expired: 2n });
  });

  it('at the first offset when a group lagged for longer than the retention', () => {
    const start = startOffsetOf({ committed: 4n, stored: 4n, first: 6n, end: 9n });
    expect(start).toEqual({ offset: 6n, stored: 6n, replayed: 0n, expired: 2n });
  });

  it('at the first offset with a database that has never stored one', () => {
    const start = startOffsetOf({ committed: 7n, stored: undefined, first: 0n, end: 9n });
    expect(start).toEqual({ offset: 0n, stored: 0n, replayed: 7n, expired: 0n });
  });

  it('at the first offset of a new group, without reporting anything as lost', () => {
    const start = startOffsetOf({ committed: undefined, stored: undefined, first: 5n, end: 9n });
    expect(start).toEqual({ offset: 5n, stored: 5n, ...NOTHING });
  });

  it.each([
    ['whose group has no committed offset', undefined],
    ['that is shorter than the stored offset', 1n],
  ])('at the first offset of a topic %s, and replaces the stored one', (_, committed) => {
    const start = startOffsetOf({ committed, stored: 1_000n, first: 0n, end: 9n });
    expect(start).toEqual({ offset: 0n, stored: 0n, ...NOTHING });
  });
});
