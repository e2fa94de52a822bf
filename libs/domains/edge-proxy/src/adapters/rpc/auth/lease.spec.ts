import { createTestClock } from '@gateway/test-support';
import { Lease } from './lease';

describe('Lease', () => {
  function createLease() {
    const wall = createTestClock();
    let monotonicMs = 1_000;
    const lease = new Lease(wall, () => monotonicMs);
    return {
      lease,
      wall,
      pass(ms: number, byWall = ms) {
        monotonicMs += ms;
        wall.advance(byWall);
      },
    };
  }

  it('starts when the renewal is sent, not when its response arrives', () => {
    const { lease, pass } = createLease();
    const sentAt = lease.now();
    pass(900);
    lease.extend(sentAt, 1_000);
    expect(lease.isValid()).toBe(true);
    pass(100);
    expect(lease.isValid()).toBe(false);
  });

  it('ends before the lease as auth counts it', () => {
    const { lease, pass } = createLease();
    lease.extend(lease.now(), 1_000);
    pass(985);
    expect(lease.isValid()).toBe(false);
  });

  it('ends as soon as it is over on either clock: after a sleep, and after the wall clock was set back', () => {
    const slept = createLease();
    slept.lease.extend(slept.lease.now(), 1_000);
    slept.pass(0, 60_000);
    expect(slept.lease.isValid()).toBe(false);

    const setBack = createLease();
    setBack.lease.extend(setBack.lease.now(), 1_000);
    setBack.pass(1_000, -60_000);
    expect(setBack.lease.isValid()).toBe(false);
  });

  it('is never shortened by a late response', () => {
    const { lease, pass } = createLease();
    const early = lease.now();
    pass(500);
    lease.extend(lease.now(), 1_000);
    lease.extend(early, 1_000);
    pass(800);
    expect(lease.isValid()).toBe(true);
  });

  it('is not valid before it was granted nor after it was ended', () => {
    const { lease } = createLease();
    expect(lease.isValid()).toBe(false);
    lease.extend(lease.now(), 1_000);
    lease.end();
    expect(lease.isValid()).toBe(false);
  });
});
