import fc from 'fast-check';
import type { UnixMs } from '@gateway/base';
import { fuzzRuns } from '@gateway/test-support';
import { FailureWindow, MAX_ORGANIZATIONS } from './failure-window';

const options = { failurePercent: 50, minCalls: 20, windowMs: 10_000 };

function windowAt(start = 1_000_000) {
  const clock = { at: start, now: () => clock.at as UnixMs };
  return { clock, window: new FailureWindow(options, clock) };
}

function count(window: FailureWindow, organizationId: string, calls: number, failures: number): void {
  for (let call = 0; call < calls; call += 1) window.count(organizationId, call < failures);
}

describe('the calls to a target', () => {
  it('of one organization never make it fail for all, whatever share of them failed', () => {
    const { window } = windowAt();
    count(window, 'a', 10_000, 10_000);
    expect(window.isFailingFor('a')).toBe(true);
    expect(window.isFailingForAll()).toBe(false);
    count(window, 'b', 19, 0);
    expect(window.isFailingForAll()).toBe(false);
    expect(window.isFailingFor('b')).toBe(false);
  });

  it('make it fail for all only if they would without those of any one organization', () => {
    const calls = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 1, noNaN: true })),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(calls, (organizations) => {
        const { window } = windowAt();
        const counts = organizations.map(([of, share]) => ({ of, failures: Math.round(of * share) }));
        for (const [id, { of, failures }] of counts.entries()) count(window, `org-${id}`, of, failures);
        const failsWithout = (left: number) => {
          const rest = counts.filter((_, id) => id !== left);
          const of = rest.reduce((sum, one) => sum + one.of, 0);
          return of >= 20 && rest.reduce((sum, one) => sum + one.failures, 0) / of > 0.5;
        };
        expect(window.isFailingForAll()).toBe(counts.length > 0 && counts.every((_, id) => failsWithout(id)));
      }),
      fuzzRuns(),
    );
  });

  it('that fail for several make it fail for all, also when each calls seldom', () => {
    const { window } = windowAt();
    for (let organization = 0; organization < 20; organization += 1) count(window, `a${organization}`, 1, 1);
    expect(window.isFailingForAll()).toBe(false);
    count(window, 'one more', 1, 1);
    expect(window.isFailingForAll()).toBe(true);
    expect(window.isFailingFor('one more')).toBe(false);
  });

  it('are forgotten after the window, and when the clock is set back', () => {
    const { clock, window } = windowAt();
    count(window, 'a', 20, 20);
    clock.at += 9_999;
    expect(window.isFailingFor('a')).toBe(true);
    clock.at += 1;
    expect(window.isFailingFor('a')).toBe(false);
    expect(window.organizations).toBe(0);
    count(window, 'a', 20, 20);
    clock.at -= 3_600_000;
    expect(window.isFailingFor('a')).toBe(false);
  });

  it('slide out of the window by and by', () => {
    const { clock, window } = windowAt();
    for (let second = 0; second < 30; second += 1) {
      count(window, 'a', 4, 4);
      clock.at += 1_000;
    }
    expect(window.isFailingFor('a')).toBe(true);
    count(window, 'a', 36, 0);
    expect(window.isFailingFor('a')).toBe(false);
  });

  it('take no more memory than a thousand organizations do', () => {
    const { window } = windowAt();
    for (let id = 0; id < 5 * MAX_ORGANIZATIONS; id += 1) window.count(`org-${id}`, true);
    expect(window.organizations).toBe(MAX_ORGANIZATIONS + 1);
    expect(window.isFailingForAll()).toBe(true);
  });

  it('of one organization can be forgotten alone', () => {
    const { window } = windowAt();
    count(window, 'a', 30, 30);
    count(window, 'b', 30, 30);
    window.forget('a');
    expect([window.isFailingFor('a'), window.isFailingFor('b')]).toEqual([false, true]);
    expect(window.organizations).toBe(1);
  });
});
