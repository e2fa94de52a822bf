import { createTestClock } from './test-clock';

describe('createTestClock', () => {
  it('advances only when it is moved', () => {
    const clock = createTestClock(1_000);
    expect([clock.now(), clock.now()]).toEqual([1_000, 1_000]);
    clock.advance(250);
    expect(clock.now()).toBe(1_250);
    clock.set(10);
    expect(clock.now()).toBe(10);
  });
});
