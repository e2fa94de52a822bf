import type { UnixMs } from '@gateway/base';
import { limits } from '../../core';
import { grant, startEdge, type TestEdge, until } from '../../testing/start-edge';

const OTHER_KEY = 'sk-gw-other-key';
const QUEUED = 'gateway_edge_proxy_requests_queued';
const REFUSED = 'gateway_edge_proxy_overload_refused_total';

/** One chat completion may start per turn, and the test starts the turns. */
describe('under overload', () => {
  let edge: TestEdge;
  let turns: (() => void)[];
  let nowMs: number;

  beforeEach(async () => {
    jest.replaceProperty(limits, 'overload', { ...limits.overload, maxPerTurn: 1 as 64 });
    turns = [];
    nowMs = Date.parse('2026-11-20T22:00:00Z');
    edge = await startEdge({
      clock: { now: () => nowMs as UnixMs },
      inNextTurn: (callback) => void turns.push(callback),
    });
    edge.keys.set(OTHER_KEY, grant({ keyId: 'key_2', organizationId: 'org_2' }));
    expect((await edge.chat()).status).toBe(200);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    while (runTurn());
    await edge.stop();
  });

  function runTurn(): boolean {
    const scheduled = turns.splice(0);
    for (const callback of scheduled) callback();
    return scheduled.length > 0;
  }

  async function valueOf(metric: string): Promise<number> {
    const text = await edge.metrics.getSingleMetricAsString(metric);
    return Number(/^[a-z_]+ (\d+)$/m.exec(text)?.[1]);
  }

  async function untilQueued(count: number): Promise<void> {
    while ((await valueOf(QUEUED)) !== count) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  it('reserves nothing for a queued request, and runs it in its turn', async () => {
    const admitted = () => edge.faults.reached.filter((step) => step === 'limiter.admit').length;
    const responses = [edge.chat(), edge.chat()];
    await untilQueued(2);
    expect(admitted()).toBe(1);
    runTurn();
    await until(() => admitted() === 2);
    expect(await valueOf(QUEUED)).toBe(1);
    runTurn();
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('refuses new requests of an organization whose oldest has waited too long, and queues others', async () => {
    const first = edge.chat();
    await untilQueued(1);
    nowMs += limits.overload.maxWaitMs + 1;
    const refused = await edge.chat();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: 'no_capacity' } });
    expect(refused.headers.get('retry-after')).toBe('10');
    const other = edge.chat(undefined, { authorization: `Bearer ${OTHER_KEY}` });
    await untilQueued(2);
    while (runTurn());
    expect((await Promise.all([first, other])).map(({ status }) => status)).toEqual([200, 200]);
    expect(await valueOf(REFUSED)).toBe(1);
    expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
  });

  it('skips a cancelled request in its turn, without using up the turn', async () => {
    const cancelled = new AbortController();
    const first = edge.chat(undefined, {}, cancelled.signal).catch(() => 'cancelled');
    await untilQueued(1);
    const second = edge.chat();
    await untilQueued(2);
    cancelled.abort();
    await first;
    await until(() => edge.logLines.some((line) => line.includes('"status":499')));
    runTurn();
    expect((await second).status).toBe(200);
    expect(await valueOf(QUEUED)).toBe(0);
  });

  it('reports an unknown key independent of the queue', async () => {
    const queued = edge.chat();
    await untilQueued(1);
    nowMs += limits.overload.maxWaitMs + 1;
    expect((await edge.chat(undefined, { authorization: 'Bearer sk-gw-unknown' })).status).toBe(401);
    while (runTurn());
    expect((await queued).status).toBe(200);
  });
});
