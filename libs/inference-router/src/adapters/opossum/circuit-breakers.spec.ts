import { UpstreamFailure, type FailureKind } from '../../core/failure/upstream-failure';
import { model, provider } from '../../testing/router-under-test';
import { createOpossumBreakers, type BreakerState } from './circuit-breakers';

const [target] = model([provider('p', 'http://p.invalid')]).targets;
if (!target) throw new Error('no target');

const failing = (kind: FailureKind) => () => Promise.reject(new UpstreamFailure(kind, { detail: 'x' }));

function breakersWithStates(retryAfterMs: number) {
  const states: BreakerState[] = [];
  let onState: () => void = () => undefined;
  const breakers = createOpossumBreakers({
    options: { minCalls: 2, failurePercent: 50, windowMs: 60_000, retryAfterMs },
    onStateChange: (_target, state) => {
      states.push(state);
      onState();
    },
  });
  const reached = (state: BreakerState) =>
    new Promise<void>((resolve) => {
      onState = () => void (states.at(-1) === state && resolve());
      onState();
    });
  return { breakers, states, reached };
}

describe('a circuit', () => {
  it('opens after failures of the provider and then runs nothing', async () => {
    const { breakers, states } = breakersWithStates(3_600_000);
    for (let call = 0; call < 2; call += 1) {
      await expect(breakers.run(target, failing('failed'))).rejects.toMatchObject({ kind: 'failed' });
    }
    const action = jest.fn(() => Promise.resolve(1));
    await expect(breakers.run(target, action)).rejects.toMatchObject({ kind: 'circuit_open' });
    expect(action).not.toHaveBeenCalled();
    expect(states).toEqual(['open']);
    breakers.close();
  });

  it('stays closed over failures that say nothing about the provider', async () => {
    const { breakers } = breakersWithStates(3_600_000);
    for (const kind of ['rejected', 'misconfigured', 'context_too_long', 'cancelled'] as const) {
      for (let call = 0; call < 4; call += 1) {
        await expect(breakers.run(target, failing(kind))).rejects.toMatchObject({ kind });
      }
    }
    expect(await breakers.run(target, () => Promise.resolve('ran'))).toBe('ran');
    breakers.close();
  });

  it('closes after a trial that succeeds, and not after one whose caller left', async () => {
    const { breakers, states, reached } = breakersWithStates(10);
    for (let call = 0; call < 2; call += 1)
      await breakers.run(target, failing('failed')).catch(() => undefined);
    await reached('half_open');
    await expect(breakers.run(target, failing('cancelled'))).rejects.toMatchObject({ kind: 'cancelled' });
    expect(states.at(-1)).toBe('open');
    await reached('half_open');
    expect(await breakers.run(target, () => Promise.resolve('ran'))).toBe('ran');
    expect(states.at(-1)).toBe('closed');
    breakers.close();
  });
});
