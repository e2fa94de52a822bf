import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { refuse } from '@gateway/errors';
import { createTestClock } from '@gateway/test-support';
import { grant } from '../../testing/start-edge';
import { createAbuseLimiter, type AbuseLimiterOptions } from './abuse-limiter';

function createLimiter(options: Partial<AbuseLimiterOptions> = {}) {
  const clock = createTestClock();
  const addresses = new WeakMap<IncomingMessage, string>();
  const read = jest.fn((request: IncomingMessage) => addresses.get(request));
  const limiter = createAbuseLimiter(
    { clientAddress: read, clock, onRefused: () => {} },
    { maxFailedAuthentications: 3, maxInvalidRequests: 5, ...options },
  );
  const from = (address?: string): IncomingMessage => {
    const request = new IncomingMessage(new Socket());
    if (address !== undefined) addresses.set(request, address);
    return request;
  };
  return { limiter, clock, read, from };
}

const INVALID = refuse('invalid_json');
const times = (count: number, act: () => void) => Array.from({ length: count }).forEach(act);

describe('an address', () => {
  it('is limited from the limit on, until the minute ends', () => {
    const { limiter, clock, from } = createLimiter();
    times(2, () => limiter.countFailedAuthentication(from('10.0.0.1')));
    expect(limiter.isAddressLimited(from('10.0.0.1'))).toBe(false);
    limiter.countFailedAuthentication(from('10.0.0.1'));
    expect(limiter.isAddressLimited(from('10.0.0.1'))).toBe(true);
    expect(limiter.isAddressLimited(from('10.0.0.2'))).toBe(false);
    clock.advance(39_999);
    expect(limiter.isAddressLimited(from('10.0.0.1'))).toBe(true);
    expect(limiter.refuseAddress().retryAfterMs).toBe(1);
    clock.advance(1);
    expect(limiter.isAddressLimited(from('10.0.0.1'))).toBe(false);
  });

  it('is not read while no address is limited', () => {
    const { limiter, read, from } = createLimiter();
    times(2, () => limiter.countFailedAuthentication(from('10.0.0.1')));
    read.mockClear();
    expect(limiter.isAddressLimited(from('10.0.0.1'))).toBe(false);
    expect(read).not.toHaveBeenCalled();
  });

  it('of IPv6 counts by its /64', () => {
    const { limiter, from } = createLimiter();
    for (const last of ['1', '2:3', 'ffff'])
      limiter.countFailedAuthentication(from(`2001:db8:1:2:${last}::`));
    expect(limiter.isAddressLimited(from('2001:db8:1:2::9'))).toBe(true);
    expect(limiter.isAddressLimited(from('2001:db8:1:3::9'))).toBe(false);
  });

  it('that is unknown counts as one address', () => {
    const { limiter, from } = createLimiter();
    times(3, () => limiter.countFailedAuthentication(from()));
    expect(limiter.isAddressLimited(from())).toBe(true);
    expect(limiter.isAddressLimited(from('10.0.0.1'))).toBe(false);
  });

  it('is never limited when the limit is off', () => {
    const { limiter, from } = createLimiter({ maxFailedAuthentications: 0 });
    times(10_000, () => limiter.countFailedAuthentication(from('10.0.0.1')));
    expect(limiter.isAddressLimited(from('10.0.0.1'))).toBe(false);
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

  it('is refused from the limit on, until the minute ends', () => {
    const { limiter, clock } = createLimiter({ maxInvalidRequests: 50 });
    times(49, () => limiter.countInvalidRequest(limited(1), INVALID, 0));
    expect(limiter.refuseKey(limited(1))).toBeUndefined();
    limiter.countInvalidRequest(limited(1), INVALID, 0);
    expect(limiter.refuseKey(limited(1))).toMatchObject({
      code: 'rpm_exceeded',
      metadata: { limit_type: 'rpm', scope: 'key', limit: 50 },
      retryAfterMs: 40_000,
    });
    expect(limiter.refuseKey(limited(1, 'key_2'))).toBeUndefined();
    clock.advance(40_000);
    expect(limiter.refuseKey(limited(1))).toBeUndefined();
  });

  it('may send twenty times its requests per minute as invalid requests, by the lower of its limits', () => {
    const { limiter } = createLimiter();
    const both = {
      ...limited(100),
      keyLimits: { requestsPerMinute: 2 },
    };
    times(39, () => limiter.countInvalidRequest(both, INVALID, 0));
    expect(limiter.refuseKey(both)).toBeUndefined();
    limiter.countInvalidRequest(both, INVALID, 0);
    expect(limiter.refuseKey(both)).toMatchObject({ metadata: { limit: 40 } });
  });

  it('uses up its limit by the size of its bodies too', () => {
    const { limiter } = createLimiter({ maxInvalidRequests: 50 });
    const KIB = 1024;
    limiter.countInvalidRequest(limited(1), INVALID, 64 * KIB - 1);
    limiter.countInvalidRequest(limited(1), INVALID, 64 * KIB);
    limiter.countInvalidRequest(limited(1), INVALID, 45 * 64 * KIB);
    expect(limiter.refuseKey(limited(1))).toBeUndefined();
    limiter.countInvalidRequest(limited(1), INVALID, 0);
    expect(limiter.refuseKey(limited(1))).toMatchObject({ code: 'rpm_exceeded' });
  });

  it('may have half of its requests per minute suspicious', () => {
    const { limiter, clock } = createLimiter({ maxInvalidRequests: 5 });
    times(4, () => limiter.countSuspicious(limited(4)));
    expect(limiter.refuseKey(limited(4))).toBeUndefined();
    limiter.countSuspicious(limited(4));
    expect(limiter.refuseKey(limited(4))).toMatchObject({
      code: 'rpm_exceeded',
      metadata: { limit_type: 'rpm', scope: 'key', limit: 5 },
      retryAfterMs: 40_000,
    });
    times(49, () => limiter.countSuspicious(limited(100, 'key_2')));
    expect(limiter.refuseKey(limited(100, 'key_2'))).toBeUndefined();
    limiter.countSuspicious(limited(100, 'key_2'));
    expect(limiter.refuseKey(limited(100, 'key_2'))).toMatchObject({ metadata: { limit: 50 } });
    clock.advance(40_000);
    expect(limiter.refuseKey(limited(100, 'key_2'))).toBeUndefined();
  });

  it('without requests per minute has no limit of invalid requests', () => {
    const { limiter } = createLimiter();
    times(10_000, () => limiter.countInvalidRequest(limited(undefined), INVALID, 0));
    expect(limiter.refuseKey(limited(undefined))).toBeUndefined();
  });

  it('is not limited by server errors', () => {
    const { limiter } = createLimiter();
    times(1_000, () => limiter.countInvalidRequest(limited(1), refuse('no_capacity'), 0));
    expect(limiter.refuseKey(limited(1))).toBeUndefined();
  });

  it('is never refused when the limit is off', () => {
    const { limiter } = createLimiter({ maxInvalidRequests: 0 });
    times(10_000, () => limiter.countInvalidRequest(limited(1), INVALID, 0));
    expect(limiter.refuseKey(limited(1))).toBeUndefined();
  });
});
