import { createTestClock } from '@gateway/test-support';
import { UpstreamFailure, type FailureKind } from '../../core/failure/upstream-failure';
import { deferred, model, provider } from '../../testing/router-under-test';
import { createOpossumBreakers, MAX_ORGANIZATION_CIRCUITS, type BreakerState } from './circuit-breakers';

const [target] = model([provider('p', 'http://p.invalid')]).targets;
if (!target) throw new Error('no target');

const NEVER_MS = 3_600_000;
const failing = (kind: FailureKind) => () => Promise.reject(new UpstreamFailure(kind, { detail: 'x' }));
const succeeding = () => Promise.resolve('ran');

function breakersWithStates(resetTimeout: number) {
  const clock = createTestClock();
  /** The states of the shared circuit, and those of organization circuits as "organization state". */
  const states: string[] = [];
  let open = 0;
  let onState: () => void = () => undefined;
  const changed = (state: string) => {
    states.push(state);
    onState();
  };
  const breakers = createOpossumBreakers({
    clock,
    options: { volumeThreshold: 2, rollingCountTimeout: 60_000, resetTimeout },
    observer: {
      stateChanged: (_target, state) => changed(state),
      organizationStateChanged: (_target, organizationId, state, notClosed) => {
        open = notClosed;
        changed(`${organizationId} ${state}`);
      },
    },
  });
  return {
    breakers,
    clock,
    states,
    organizationsOpen: () => open,
    call: (organizationId: string, action: () => Promise<unknown> = succeeding) =>
      breakers.run(target as NonNullable<typeof target>, organizationId, action),
    fail: async (organizationId: string, calls: number) => {
      for (let call = 0; call < calls; call += 1) {
        await expect(
          breakers.run(target as NonNullable<typeof target>, organizationId, failing('failed')),
        ).rejects.toMatchObject({ kind: 'failed' });
      }
    },
    reached: (state: BreakerState | `${string} ${BreakerState}`) =>
      new Promise<void>((resolve) => {
        onState = () => void (states.at(-1) === state && resolve());
        onState();
      }),
  };
}

const rejected = { kind: 'circuit_open' };

describe('a circuit', () => {
  it('opens for the organization whose calls fail, and then rejects its calls without running them', async () => {
    const { breakers, states, call, fail } = breakersWithStates(NEVER_MS);
    await fail('a', 2);
    const action = jest.fn(succeeding);
    await expect(call('a', action)).rejects.toMatchObject(rejected);
    expect(action).not.toHaveBeenCalled();
    expect(await call('b')).toBe('ran');
    expect(states).toEqual(['a open']);
    breakers.close();
  });

  it('opens for all when several organizations fail, since consecutive failures of one count once', async () => {
    const { breakers, states, call, fail } = breakersWithStates(NEVER_MS);
    await fail('a', 2);
    expect(await call('c')).toBe('ran');
    await fail('b', 1);
    expect(states).toEqual(['a open']);
    await fail('d', 1);
    expect(states).toEqual(['a open', 'open']);
    await expect(call('c')).rejects.toMatchObject(rejected);
    breakers.close();
  });

  it('stays closed for all when one organization fails too seldom to open its own circuit', async () => {
    const { breakers, states, call, fail } = breakersWithStates(NEVER_MS);
    for (let calls = 0; calls < 100; calls += 1) {
      await fail('a', 1);
      await call('a');
      await call('a');
    }
    expect(states).toEqual([]);
    breakers.close();
  });

  it('stays closed after failures that say nothing about the provider', async () => {
    const { breakers, states, call } = breakersWithStates(NEVER_MS);
    for (const kind of ['rejected', 'misconfigured', 'context_too_long', 'cancelled'] as const) {
      for (const organization of ['a', 'b', 'c', 'a', 'b', 'c']) {
        await expect(call(organization, failing(kind))).rejects.toMatchObject({ kind });
      }
    }
    expect(await call('a')).toBe('ran');
    expect(states).toEqual([]);
    breakers.close();
  });

  it('closes after a successful trial, but not after a cancelled one', async () => {
    const { breakers, states, call, fail, reached } = breakersWithStates(20);
    await fail('a', 2);
    await reached('a half_open');
    await expect(call('a', failing('cancelled'))).rejects.toMatchObject({ kind: 'cancelled' });
    expect(states.at(-1)).toBe('a open');
    await reached('a half_open');
    expect(await call('a')).toBe('ran');
    expect(states.at(-1)).toBe('a closed');
    await fail('a', 1);
    expect(await call('a')).toBe('ran');
    breakers.close();
  });

  it('reserves the next trial for other organizations for one more reset timeout after a failed trial', async () => {
    const { breakers, clock, call, fail, reached } = breakersWithStates(20);
    for (const organization of ['a', 'b']) await fail(organization, 1);
    await reached('half_open');
    await expect(call('b')).rejects.toMatchObject(rejected);
    await fail('a', 1);
    await reached('half_open');
    await expect(call('a')).rejects.toMatchObject(rejected);
    clock.advance(40);
    await fail('a', 1);
    await reached('half_open');
    await expect(call('a')).rejects.toMatchObject(rejected);
    expect(await call('b')).toBe('ran');
    expect(await call('a')).toBe('ran');
    breakers.close();
  });

  it('runs another trial while one is slow, and closes when the slow trial succeeds', async () => {
    const { breakers, states, call, fail, reached } = breakersWithStates(20);
    for (const organization of ['a', 'b']) await fail(organization, 1);
    await reached('half_open');
    const slow = deferred();
    const trial = call('a', () => slow.promise);
    await expect(call('b')).rejects.toMatchObject(rejected);
    await reached('open');
    await reached('half_open');
    slow.resolve();
    await trial;
    expect(states.at(-1)).toBe('closed');
    expect(await call('b')).toBe('ran');
    breakers.close();
  });

  it('exists for at most the maximum number of organizations', async () => {
    const { breakers, call, organizationsOpen } = breakersWithStates(NEVER_MS);
    // Successful calls of others keep the shared circuit closed.
    for (let calls = 0; calls < 10 * MAX_ORGANIZATION_CIRCUITS; calls += 1) await call('good');
    for (let id = 0; id < 3 * MAX_ORGANIZATION_CIRCUITS; id += 1) {
      for (let calls = 0; calls < 2; calls += 1) {
        await call(`bad-${id}`, failing('failed')).catch(() => undefined);
      }
    }
    expect(organizationsOpen()).toBe(MAX_ORGANIZATION_CIRCUITS);
    expect(await call('good')).toBe('ran');
    expect(await call('bad-0')).toBe('ran');
    breakers.close();
  });
});
