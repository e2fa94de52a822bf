import { DeadlineWheel, type Expiring } from './deadline-wheel';

describe('the deadline wheel', () => {
  let nowMs = 0;
  let wheel: DeadlineWheel;

  beforeEach(() => {
    jest.useFakeTimers();
    nowMs = 1_000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    wheel = new DeadlineWheel();
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  function pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 1) {
      nowMs += 1;
      jest.advanceTimersByTime(1);
    }
  }

  function entry(name: string, expired: string[]): Expiring {
    return { expire: () => expired.push(name) };
  }

  it('expires entries in the order of their deadlines, never early, at most one tick late', () => {
    const expired: string[] = [];
    wheel.add(entry('c', expired), 300);
    wheel.add(entry('a', expired), 95);
    wheel.add(entry('b', expired), 105);
    pass(94);
    expect(expired).toEqual([]);
    pass(12);
    expect(expired).toEqual(['a']);
    pass(10);
    expect(expired).toEqual(['a', 'b']);
    pass(200);
    expect(expired).toEqual(['a', 'b', 'c']);
  });

  it('does not expire what was removed, nor anything twice', () => {
    const expired: string[] = [];
    const removed = entry('removed', expired);
    const tick = wheel.add(removed, 50);
    wheel.add(entry('kept', expired), 50);
    wheel.remove(removed, tick);
    wheel.remove(removed, tick);
    pass(500);
    expect(expired).toEqual(['kept']);
  });

  it('takes new entries from within an expiry', () => {
    const expired: string[] = [];
    wheel.add(
      {
        expire: () => {
          expired.push('first');
          wheel.add(entry('second', expired), 20);
        },
      },
      20,
    );
    pass(100);
    expect(expired).toEqual(['first', 'second']);
  });

  it('needs one timer for any number of entries, and none once it is empty', () => {
    const expired: string[] = [];
    for (let index = 0; index < 1_000; index += 1) {
      const late = entry('late', expired);
      wheel.remove(late, wheel.add(late, 5_000));
      wheel.add(entry('soon', expired), 100);
      pass(index % 50 === 0 ? 1 : 0);
      expect(jest.getTimerCount()).toBe(1);
    }
    pass(10_000);
    expect(expired).toHaveLength(1_000);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('waits for deadlines further away than a timer can', () => {
    const expired: string[] = [];
    wheel.add(entry('far', expired), 2 ** 31 + 10);
    nowMs += 2 ** 31 - 1;
    jest.advanceTimersByTime(2 ** 31 - 1);
    expect(expired).toEqual([]);
    pass(30);
    expect(expired).toEqual(['far']);
  });
});
