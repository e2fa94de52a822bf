import RequestQueue from 'kafkajs/src/network/requestQueue';
import { letRequestQueuesRest } from './resting-request-queue';

const silent = { debug: () => undefined, error: () => undefined };

describe('the request queue of kafkajs', () => {
  let sent: string[];
  let queue: RequestQueue;

  beforeAll(letRequestQueuesRest);

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

  it('sets no timer while nothing waits', () => {
    queue.checkPendingRequests();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('sends what waits for a broker that asked for less once its time has come, and rests then', () => {
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
