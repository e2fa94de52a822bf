import type { UnixMs } from '@gateway/base';
import { limits } from '../../core';
import { grant, startEdge, type TestEdge, until } from '../../testing/start-edge';

const OTHER_KEY = 'sk-gw-other-key';
const WAITING = 'gateway_edge_proxy_requests_queued';
const REFUSED = 'gateway_edge_proxy_overload_refused_total';

/** One chat completion may begin in a turn, and turns come when the test wants them. */
describe('when more arrives than can begin', () => {
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
    while (takeTurn());
    await edge.stop();
  });

  function takeTurn(): boolean {
    const taken = turns.splice(0);
    for (const callback of taken) callback();
    return taken.length > 0;
  }

  async function valueOf(metric: string): Promise<number> {
    const text = await edge.metrics.getSingleMetricAsString(metric);
    return Number(/^[a-z_]+ (\d+)$/m.exec(text)?.[1]);
  }

  async function untilWaiting(count: number): Promise<void> {
    while ((await valueOf(WAITING)) !== count) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  it('what waits has reserved nothing, and is answered in its turn', async () => {
    const admitted = () => edge.faults.reached.filter((moment) => moment === 'limiter.admit').length;
    const answers = [edge.chat(), edge.chat()];
    await untilWaiting(2);
    expect(admitted()).toBe(1);
    takeTurn();
    await until(() => admitted() === 2);
    expect(await valueOf(WAITING)).toBe(1);
    takeTurn();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('refuses the newest of an organization that has waited for too long, and lets others wait', async () => {
    const first = edge.chat();
    await untilWaiting(1);
    nowMs += limits.overload.maxWaitMs + 1;
    const refused = await edge.chat();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: 'no_capacity' } });
    expect(refused.headers.get('retry-after')).toBe('10');
    const other = edge.chat(undefined, { authorization: `Bearer ${OTHER_KEY}` });
    await untilWaiting(2);
    while (takeTurn());
    expect((await Promise.all([first, other])).map(({ status }) => status)).toEqual([200, 200]);
    expect(await valueOf(REFUSED)).toBe(1);
    expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
  });

  it('a caller that cancels while it waits is forgotten in its turn, and takes nobody’s', async () => {
    const cancelled = new AbortController();
    const first = edge.chat(undefined, {}, cancelled.signal).catch(() => 'cancelled');
    await untilWaiting(1);
    const second = edge.chat();
    await untilWaiting(2);
    cancelled.abort();
    await first;
    await until(() => edge.logLines.some((line) => line.includes('"status":499')));
    takeTurn();
    expect((await second).status).toBe(200);
    expect(await valueOf(WAITING)).toBe(0);
  });

  it('a key that is unknown is told so, however many wait', async () => {
    const waiting = edge.chat();
    await untilWaiting(1);
    nowMs += limits.overload.maxWaitMs + 1;
    expect((await edge.chat(undefined, { authorization: 'Bearer sk-gw-unknown' })).status).toBe(401);
    while (takeTurn());
    expect((await waiting).status).toBe(200);
  });
});
