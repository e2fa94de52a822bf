import type { LoggedEvent } from '../event-log';
import { createCommittedEventBuffer, type GroupBuffer } from './committed-event-buffer';

const READER = { topic: 't', group: 'g' };
const ignore = () => undefined;
const NO_EVENTS = { events: [], isLast: true };

/** Events after that position. */
function events(base: bigint, ...texts: string[]): LoggedEvent[] {
  return texts.map((text, index) => ({
    topic: 't',
    position: base + BigInt(index + 1),
    key: 'k',
    payload: Buffer.from(text),
    headers: {},
  }));
}

function take(buffered: GroupBuffer, after: bigint, maxEvents = 100, maxBytes = 1_000_000) {
  const { events: taken, isLast } = buffered.take(after, maxEvents, maxBytes);
  return { texts: taken.map(({ payload }) => Buffer.from(payload).toString()), isLast };
}

describe('the buffer of committed events', () => {
  it('has events for the groups of the topic that this process leads', () => {
    const buffer = createCommittedEventBuffer({ maxBufferedBytes: 10_000 });
    const woken: string[] = [];
    const one = buffer.open(READER, () => woken.push('one'));
    const two = buffer.open({ topic: 't', group: 'h' }, () => woken.push('two'));
    const other = buffer.open({ topic: 'other', group: 'g' }, () => woken.push('other'));
    expect(buffer.groupsOf('t')).toEqual(['g', 'h']);
    const [logged] = events(4n, 'five') as [LoggedEvent];
    buffer.add('t', [logged]);
    expect(woken).toEqual(['one', 'two']);
    expect(one.take(4n, 10, 10)).toEqual({ events: [logged], isLast: true });
    expect(two.take(4n, 10, 10)).toEqual({ events: [logged], isLast: true });
    expect(other.take(4n, 10, 10)).toEqual(NO_EVENTS);
    buffer.add('t', events(5n, 'six'));
    one.close();
    expect(one.take(5n, 10, 10)).toEqual(NO_EVENTS);
    expect(buffer.groupsOf('t')).toEqual(['h']);
    buffer.add('t', events(6n, 'seven'));
    expect(woken).toEqual(['one', 'two', 'one', 'two', 'two']);
  });

  it('returns events in order of position, whichever commit was added first', () => {
    const buffer = createCommittedEventBuffer({ maxBufferedBytes: 10_000 });
    const buffered = buffer.open(READER, ignore);
    buffer.add('t', events(3n, '4', '5'));
    expect(take(buffered, 1n)).toEqual({ texts: [], isLast: true });
    buffer.add('t', events(1n, '2', '3'));
    expect(take(buffered, 1n)).toEqual({ texts: ['2', '3', '4', '5'], isLast: true });
    expect(take(buffered, 5n)).toEqual({ texts: [], isLast: true });
  });

  it('returns at most a batch of events and bytes, and always one event', () => {
    const buffer = createCommittedEventBuffer({ maxBufferedBytes: 10_000 });
    const buffered = buffer.open(READER, ignore);
    buffer.add('t', events(0n, '1', '2', '3'));
    buffer.add('t', events(3n, 'four', 'five', '6'));
    expect(take(buffered, 0n, 2)).toEqual({ texts: ['1', '2'], isLast: false });
    expect(take(buffered, 2n, 100, 5)).toEqual({ texts: ['3', 'four'], isLast: false });
    expect(take(buffered, 4n, 100, 0)).toEqual({ texts: ['five'], isLast: false });
    expect(take(buffered, 5n, 1)).toEqual({ texts: ['6'], isLast: true });
  });

  it('evicts events beyond its limit', () => {
    const buffer = createCommittedEventBuffer({ maxBufferedBytes: 2_000 });
    const buffered = buffer.open(READER, ignore);
    buffer.add('t', events(0n, '1', '2', '3', '4', '5'));
    buffer.add('t', events(5n, '6'));
    expect(take(buffered, 0n).texts).toEqual([]);
    expect(take(buffered, 5n).texts).toEqual(['6']);
  });

  it.each([
    ['were taken', (buffered: GroupBuffer, base: bigint) => take(buffered, base)],
    ['were read from the database', (buffered: GroupBuffer, base: bigint) => take(buffered, base + 1n)],
  ])('does not count events that %s', (_, pass) => {
    const buffer = createCommittedEventBuffer({ maxBufferedBytes: 2_000 });
    const buffered = buffer.open(READER, ignore);
    for (let base = 0n; base < 30n; base += 1n) {
      buffer.add('t', events(base, 'passed'));
      pass(buffered, base);
    }
    buffer.add('t', events(30n, '31', '32', '33'));
    buffer.add('t', events(33n, '34'));
    expect(take(buffered, 30n).texts).toEqual(['31', '32', '33', '34']);
  });
});
