import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { refuse } from '@gateway/errors';
import { createTestClock } from '@gateway/test-support';
import { grant } from '../../testing/start-edge';
import { createFloodGuard, type FloodGuardOptions } from './flood-guard';

function createGuard(options: Partial<FloodGuardOptions> = {}) {
  const clock = createTestClock();
  const addresses = new WeakMap<IncomingMessage, string>();
  const read = jest.fn((request: IncomingMessage) => addresses.get(request));
  const guard = createFloodGuard(
    { clientAddress: read, clock, onRefused: () => {} },
    { maxFailedAuthentications: 3, maxInvalidRequests: 5, ...options },
  );
  const from = (address?: string): IncomingMessage => {
    const request = new IncomingMessage(new Socket());
    if (address !== undefined) addresses.set(request, address);
    return request;
  };
  return { guard, clock, read, from };
}

const INVALID = refuse('invalid_json');
const times = (count: number, act: () => void) => Array.from({ length: count }).forEach(act);

describe('an address', () => {
  it('floods from the limit on, until the minute is over', () => {
    const { guard, clock, from } = createGuard();
    times(2, () => guard.countFailedAuthentication(from('10.0.0.1')));
    expect(guard.isAddressFlooding(from('10.0.0.1'))).toBe(false);
    guard.countFailedAuthentication(from('10.0.0.1'));
    expect(guard.isAddressFlooding(from('10.0.0.1'))).toBe(true);
    expect(guard.isAddressFlooding(from('10.0.0.2'))).toBe(false);
    clock.advance(39_999);
    expect(guard.isAddressFlooding(from('10.0.0.1'))).toBe(true);
    expect(guard.refuseAddress().retryAfterMs).toBe(1);
    clock.advance(1);
    expect(guard.isAddressFlooding(from('10.0.0.1'))).toBe(false);
  });

  it('is not even read while nobody floods', () => {
    const { guard, read, from } = createGuard();
    times(2, () => guard.countFailedAuthentication(from('10.0.0.1')));
    read.mockClear();
    expect(guard.isAddressFlooding(from('10.0.0.1'))).toBe(false);
    expect(read).not.toHaveBeenCalled();
  });

  it('of IPv6 stands for its /64, which one subscriber has', () => {
    const { guard, from } = createGuard();
    for (const last of ['1', '2:3', 'ffff']) guard.countFailedAuthentication(from(`2001:db8:1:2:${last}::`));
    expect(guard.isAddressFlooding(from('2001:db8:1:2::9'))).toBe(true);
    expect(guard.isAddressFlooding(from('2001:db8:1:3::9'))).toBe(false);
  });

  it('that cannot be read counts as one', () => {
    const { guard, from } = createGuard();
    times(3, () => guard.countFailedAuthentication(from()));
    expect(guard.isAddressFlooding(from())).toBe(true);
    expect(guard.isAddressFlooding(from('10.0.0.1'))).toBe(false);
  });

  it('never floods when the limit is off', () => {
    const { guard, from } = createGuard({ maxFailedAuthentications: 0 });
    times(10_000, () => guard.countFailedAuthentication(from('10.0.0.1')));
    expect(guard.isAddressFlooding(from('10.0.0.1'))).toBe(false);
  });
});

describe('a key', () => {
  const limited = (requestsPerMinute: number | undefined, keyId = 'key_1') =>
    grant({
      keyId,
      keyLimits: undefined,
      organizationLimits: {
        multipleCompletions: false,
        ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
      },
    });

  it('is refused from the limit on, until the minute is over', () => {
    const { guard, clock } = createGuard({ maxInvalidRequests: 50 });
    times(49, () => guard.countInvalidRequest(limited(1), INVALID, 0));
    expect(guard.refuseKey(limited(1))).toBeUndefined();
    guard.countInvalidRequest(limited(1), INVALID, 0);
    expect(guard.refuseKey(limited(1))).toMatchObject({
      code: 'rpm_exceeded',
      metadata: { limit_type: 'rpm', scope: 'key', limit: 50 },
      retryAfterMs: 40_000,
    });
    expect(guard.refuseKey(limited(1, 'key_2'))).toBeUndefined();
    clock.advance(40_000);
    expect(guard.refuseKey(limited(1))).toBeUndefined();
  });

  it('may err twenty times as often as it may send, by the lower of its limits', () => {
    const { guard } = createGuard();
    const both = {
      ...limited(100),
      keyLimits: { requestsPerMinute: 2 },
    };
    times(39, () => guard.countInvalidRequest(both, INVALID, 0));
    expect(guard.refuseKey(both)).toBeUndefined();
    guard.countInvalidRequest(both, INVALID, 0);
    expect(guard.refuseKey(both)).toMatchObject({ metadata: { limit: 40 } });
  });

  it('may err as often as the bytes of its bodies allow, which count beside their number', () => {
    const { guard } = createGuard({ maxInvalidRequests: 50 });
    const KIB = 1024;
    guard.countInvalidRequest(limited(1), INVALID, 64 * KIB - 1);
    guard.countInvalidRequest(limited(1), INVALID, 64 * KIB);
    guard.countInvalidRequest(limited(1), INVALID, 45 * 64 * KIB);
    expect(guard.refuseKey(limited(1))).toBeUndefined();
    guard.countInvalidRequest(limited(1), INVALID, 0);
    expect(guard.refuseKey(limited(1))).toMatchObject({ code: 'rpm_exceeded' });
  });

  it('that may send without bound may err without bound', () => {
    const { guard } = createGuard();
    times(10_000, () => guard.countInvalidRequest(limited(undefined), INVALID, 0));
    expect(guard.refuseKey(limited(undefined))).toBeUndefined();
  });

  it('is not blamed for failures on our side', () => {
    const { guard } = createGuard();
    times(1_000, () => guard.countInvalidRequest(limited(1), refuse('no_capacity'), 0));
    expect(guard.refuseKey(limited(1))).toBeUndefined();
  });

  it('is never refused when the limit is off', () => {
    const { guard } = createGuard({ maxInvalidRequests: 0 });
    times(10_000, () => guard.countInvalidRequest(limited(1), INVALID, 0));
    expect(guard.refuseKey(limited(1))).toBeUndefined();
  });
});
