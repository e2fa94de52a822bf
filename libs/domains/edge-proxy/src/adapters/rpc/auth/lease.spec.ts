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

  it('runs from when the renewal was sent, not from when its answer came', () => {
    const { lease, pass } = createLease();
    const sentAt = lease.now();
    pass(900);
    lease.extend(sentAt, 1_000);
    expect(lease.isLive()).toBe(true);
    pass(100);
    expect(lease.isLive()).toBe(false);
  });

  it('ends before the lease that auth counts', () => {
    const { lease, pass } = createLease();
    lease.extend(lease.now(), 1_000);
    pass(985);
    expect(lease.isLive()).toBe(false);
  });

  it('is over as soon as either clock says so: after a sleep, and after a clock was set back', () => {
    const slept = createLease();
    slept.lease.extend(slept.lease.now(), 1_000);
    slept.pass(0, 60_000);
    expect(slept.lease.isLive()).toBe(false);

    const setBack = createLease();
    setBack.lease.extend(setBack.lease.now(), 1_000);
    setBack.pass(1_000, -60_000);
    expect(setBack.lease.isLive()).toBe(false);
  });

  it('is never shortened by an answer that comes late', () => {
    const { lease, pass } = createLease();
    const early = lease.now();
    pass(500);
    lease.extend(lease.now(), 1_000);
    lease.extend(early, 1_000);
    pass(800);
    expect(lease.isLive()).toBe(true);
  });

  it('does not run before it was granted nor after it was ended', () => {
    const { lease } = createLease();
    expect(lease.isLive()).toBe(false);
    lease.extend(lease.now(), 1_000);
    lease.end();
    expect(lease.isLive()).toBe(false);
  });
});
