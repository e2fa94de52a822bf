import { announceSeed, DashboardClient, eventually, seededRandom, workersOf } from '@gateway/test-support';
import { Agent, fetch } from 'undici';
import { ask } from '../testing/ask';
import { expectChargedAsTold, expectClosedBooks } from '../testing/books';
import { startCrashWorld, type CrashWorld } from '../testing/crash-world';
import { startStorm } from '../testing/storm';

jest.setTimeout(120_000);

const WORKERS = 2;

/** A request over a connection of its own, so that the next worker in turn gets it. */
async function completionBy(world: CrashWorld, apiKey: string): Promise<number> {
  const dispatcher = new Agent();
  const { status } = await fetch(`${world.gateway.baseUrl}/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'demo/small',
      max_tokens: 5,
      messages: [{ role: 'user', content: '[[tokens:1]]' }],
    }),
  });
  await dispatcher.destroy();
  return status;
}

async function answeredByWorker(world: CrashWorld): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
  const answered = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^gateway_edge_proxy_requests_total\{(.*)\} (\d+)$/gm)) {
    const worker = /worker="(\d+)"/.exec(labels)?.[1] ?? 'none';
    answered.set(worker, (answered.get(worker) ?? 0) + Number(value));
  }
  return answered;
}

describe('a gateway with two workers', () => {
  let world: CrashWorld;
  let dashboard: DashboardClient;

  beforeAll(async () => {
    world = await startCrashWorld({ workers: WORKERS });
    const { dashboardUrl, adminEmail, adminPassword } = world.gateway;
    dashboard = await DashboardClient.signIn(dashboardUrl, adminEmail, adminPassword);
  });
  afterAll(() => world?.close());

  it('admits exactly the limit over both, and each of them answers', async () => {
    const { apiKey } = await dashboard.createTenant('limited', '10.00', { requestsPerMinute: 20 });
    const statuses = await Promise.all(Array.from({ length: 60 }, () => completionBy(world, apiKey)));
    // The minute may begin anew meanwhile, on a machine that is busy, and then admits as many again.
    const admitted = statuses.filter((status) => status === 200).length;
    expect([20, 40]).toContain(admitted);
    expect(statuses.filter((status) => status === 429)).toHaveLength(60 - admitted);
    const answered = await answeredByWorker(world);
    expect([...answered.keys()].sort()).toEqual(['1', '2']);
    expect(Math.min(...answered.values())).toBeGreaterThan(0);
  });

  it('replaces a worker that is killed, while the other goes on, and the books close', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      const [victim = 0] = workersOf(world.gateway.pid);
      const storm = startStorm(world.gateway, random, { requests: 40, name: `storm ${seed}` });
      await eventually('some answers', async () => (storm.finishedCount() >= 5 ? true : undefined));
      process.kill(victim, 'SIGKILL');
      const outcomes = (await storm.outcomes).map(({ outcome }) => outcome);
      expect(outcomes.filter(({ kind }) => kind === 'finished').length).toBeGreaterThan(5);
      expect(outcomes.filter(({ kind }) => kind === 'failed')).toEqual([]);

      const workers = await eventually('another worker', async () => {
        const now = workersOf(world.gateway.pid);
        return now.length === WORKERS && !now.includes(victim) ? now : undefined;
      });
      expect(workers).toHaveLength(WORKERS);
      await expectClosedBooks(world.pool);
      await expectChargedAsTold(world.pool, outcomes);
      const again = await ask(world.gateway, { prompt: 'Hello', stream: true });
      expect(again.kind).toBe('finished');
    }));

  it('leaves no worker behind when its main process is killed, and starts again on the same port', async () => {
    const workers = workersOf(world.gateway.pid);
    await world.kill();
    await eventually('the end of the workers', async () => (workers.every(isGone) ? true : undefined));
    await world.restart();
    expect((await ask(world.gateway, { prompt: 'Hello', stream: false })).kind).toBe('finished');
  });
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
