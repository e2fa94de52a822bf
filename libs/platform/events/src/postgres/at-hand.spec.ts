import type { LoggedEvent } from '../event-log';
import { createAtHand, type Inbox } from './at-hand';

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

function take(inbox: Inbox, after: bigint, maxEvents = 100, maxBytes = 1_000_000) {
  const { events: taken, isLast } = inbox.take(after, maxEvents, maxBytes);
  return { texts: taken.map(({ payload }) => Buffer.from(payload).toString()), isLast };
}

describe('what is at hand', () => {
  it('is for the groups of its topic that are here, while they are', () => {
    const atHand = createAtHand({ maxBytesAtHand: 10_000 });
    const woken: string[] = [];
    const one = atHand.enter(READER, () => woken.push('one'));
    const two = atHand.enter({ topic: 't', group: 'h' }, () => woken.push('two'));
    const other = atHand.enter({ topic: 'other', group: 'g' }, () => woken.push('other'));
    expect(atHand.groupsOf('t')).toEqual(['g', 'h']);
    const [logged] = events(4n, 'five') as [LoggedEvent];
    atHand.offer('t', [logged]);
    expect(woken).toEqual(['one', 'two']);
    expect(one.take(4n, 10, 10)).toEqual({ events: [logged], isLast: true });
    expect(two.take(4n, 10, 10)).toEqual({ events: [logged], isLast: true });
    expect(other.take(4n, 10, 10)).toEqual(NO_EVENTS);
    atHand.offer('t', events(5n, 'six'));
    one.leave();
    expect(one.take(5n, 10, 10)).toEqual(NO_EVENTS);
    expect(atHand.groupsOf('t')).toEqual(['h']);
    atHand.offer('t', events(6n, 'seven'));
    expect(woken).toEqual(['one', 'two', 'one', 'two', 'two']);
  });

  it('comes in order of position, whichever commit was told of first', () => {
    const atHand = createAtHand({ maxBytesAtHand: 10_000 });
    const inbox = atHand.enter(READER, ignore);
    atHand.offer('t', events(3n, '4', '5'));
    expect(take(inbox, 1n)).toEqual({ texts: [], isLast: true });
    atHand.offer('t', events(1n, '2', '3'));
    expect(take(inbox, 1n)).toEqual({ texts: ['2', '3', '4', '5'], isLast: true });
    expect(take(inbox, 5n)).toEqual({ texts: [], isLast: true });
  });

  it('comes as many at a time and as large as a batch may be, and always one', () => {
    const atHand = createAtHand({ maxBytesAtHand: 10_000 });
    const inbox = atHand.enter(READER, ignore);
    atHand.offer('t', events(0n, '1', '2', '3'));
    atHand.offer('t', events(3n, 'four', 'five', '6'));
    expect(take(inbox, 0n, 2)).toEqual({ texts: ['1', '2'], isLast: false });
    expect(take(inbox, 2n, 100, 5)).toEqual({ texts: ['3', 'four'], isLast: false });
    expect(take(inbox, 4n, 100, 0)).toEqual({ texts: ['five'], isLast: false });
    expect(take(inbox, 5n, 1)).toEqual({ texts: ['6'], isLast: true });
  });

  it('is no more than may lie about: what is beyond has to be read back', () => {
    const atHand = createAtHand({ maxBytesAtHand: 2_000 });
    const inbox = atHand.enter(READER, ignore);
    atHand.offer('t', events(0n, '1', '2', '3', '4', '5'));
    atHand.offer('t', events(5n, '6'));
    expect(take(inbox, 0n).texts).toEqual([]);
    expect(take(inbox, 5n).texts).toEqual(['6']);
  });

  it.each([
    ['was taken', (inbox: Inbox, base: bigint) => take(inbox, base)],
    ['was read elsewhere', (inbox: Inbox, base: bigint) => take(inbox, base + 1n)],
  ])('takes no room for what %s', (_, pass) => {
    const atHand = createAtHand({ maxBytesAtHand: 2_000 });
    const inbox = atHand.enter(READER, ignore);
    for (let base = 0n; base < 30n; base += 1n) {
      atHand.offer('t', events(base, 'passed'));
      pass(inbox, base);
    }
    atHand.offer('t', events(30n, '31', '32', '33'));
    atHand.offer('t', events(33n, '34'));
    expect(take(inbox, 30n).texts).toEqual(['31', '32', '33', '34']);
  });
});
