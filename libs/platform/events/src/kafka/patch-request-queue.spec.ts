import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { version } from 'kafkajs/package.json';
import RequestQueue from 'kafkajs/src/network/requestQueue';
import { patchRequestQueue } from './patch-request-queue';

const PATCHED_SHA256 = 'b55986089c14f8f7bfc377922e2e65b3e4c1e7c7af2752d3b10a75dfe9e9260c';

const silent = { debug: () => undefined, error: () => undefined };

describe('the request queue of kafkajs', () => {
  let sent: string[];
  let queue: RequestQueue;

  beforeAll(patchRequestQueue);

  beforeEach(() => {
    jest.useFakeTimers();
    sent = [];
    queue = new RequestQueue({
      maxInFlightRequests: null,
      requestTimeout: 1_000,
      enforceRequestTimeout: false,
      clientId: 'test',
      broker: 'broker',
      logger: { ...silent, namespace: () => silent },
      isConnected: () => true,
    });
  });

  afterEach(() => {
    queue.destroy();
    jest.useRealTimers();
  });

  const request = (name: string) => ({
    correlationId: name,
    send: () => sent.push(name),
    expectResponse: true,
  });

  // The patch relies on these internals. Compare them after an upgrade, and remove the patch if kafkajs was fixed.
  it('is the version that the patch was written for', () => {
    const source = readFileSync(require.resolve('kafkajs/src/network/requestQueue'));
    const sourceSha256 = createHash('sha256').update(source).digest('hex');
    expect({ version, sourceSha256 }).toEqual({ version: '2.2.4', sourceSha256: PATCHED_SHA256 });
    expect(queue).toMatchObject({ pending: [], throttledUntil: -1, throttleCheckTimeoutId: null });
  });

  it('sets no timer without pending requests', () => {
    queue.checkPendingRequests();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('sends pending requests when the throttle time has passed, and sets no timer after that', () => {
    queue.throttledUntil = Date.now() + 5_000;
    queue.pending.push(request('a'), request('b'));
    queue.checkPendingRequests();
    expect([sent, jest.getTimerCount()]).toEqual([[], 1]);
    jest.advanceTimersByTime(4_999);
    expect(sent).toEqual([]);
    jest.advanceTimersByTime(11);
    expect([sent, jest.getTimerCount()]).toEqual([['a', 'b'], 0]);
  });
});
