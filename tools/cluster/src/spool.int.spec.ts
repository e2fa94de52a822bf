import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeWith } from '@gateway/dev-infra';
import { createLogger } from '@gateway/runtime';
import { eventually } from '@gateway/testing';
import { startCluster, type Cluster } from './cluster';
import { SERVICE_NAMES, type ServiceName } from './services';
import { clusterEngines } from './testing/cluster-engines';

const root = path.resolve(__dirname, '../../..');
const NANO = 1e9;
const GENERATIONS = 5;

jest.setTimeout(180_000);

describeWith(clusterEngines, 'a router that has nobody to tell what is finished', () => {
  let stateDirectory: string;
  let cluster: Cluster;

  beforeAll(async () => {
    stateDirectory = mkdtempSync(path.join(tmpdir(), 'gateway-spool-'));
    // The database's own user has to enter it.
    chmodSync(stateDirectory, 0o755);
    cluster = await startCluster({
      stateDirectory,
      programs: path.join(root, 'dist'),
      replicas: Object.fromEntries(SERVICE_NAMES.map((name) => [name, 1])) as Record<ServiceName, number>,
      port: 0,
      dashboardPort: 0,
      modelsFile: path.join(root, 'models.yaml'),
      environment: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
      onLine: () => undefined,
      log: createLogger({ name: 'cluster', level: 'error', pretty: false }),
    });
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(stateDirectory, { recursive: true, force: true });
  });

  const replica = (service: ServiceName) => {
    const [found] = cluster.replicas.filter((each) => each.service === service);
    if (found === undefined) throw new Error(`there is no ${service}`);
    return found;
  };
  const headers = () => ({
    authorization: `Bearer ${cluster.dev.apiKey}`,
    'content-type': 'application/json',
  });
  const read = async <Answer>(url: string): Promise<Answer | undefined> => {
    const answer = await fetch(`${cluster.dev.baseUrl}${url}`, { headers: headers() });
    return answer.status === 200 ? ((await answer.json()) as Answer) : undefined;
  };
  const spooled = () =>
    readdirSync(path.join(stateDirectory, 'inference-router-1', 'spool')).filter((file) =>
      file.endsWith('.finished'),
    );

  /** A stream that has begun, and what it costs once it has ended. */
  async function beginStream(number: number): Promise<{ ended: Promise<bigint> }> {
    const answer = await fetch(`${cluster.dev.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({
        model: 'demo/small',
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: `Number ${number} [[tokens:60]] [[rate:20]]` }],
      }),
    });
    expect(answer.status).toBe(200);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? '';
    const ended = (async () => {
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        text += part.value;
      expect(text).toContain('data: [DONE]');
      return BigInt(Math.round(Number(/"cost":([\d.e-]+)/.exec(text)?.[1]) * NANO));
    })();
    return { ended };
  }

  it('keeps it through kill -9, and it is charged exactly once when Kafka and the ledger are back', async () => {
    const streams = await Promise.all(Array.from({ length: GENERATIONS }, (_, index) => beginStream(index)));
    const ledger = replica('billing-ledger');
    ledger.pause();
    await cluster.engines.kafka.kill();
    const costs = await Promise.all(streams.map(({ ended }) => ended));
    expect(spooled()).toHaveLength(GENERATIONS);

    const router = replica('inference-router');
    router.kill();
    await eventually('the router runs again', async () => (router.starts() === 2 ? true : undefined));
    expect(spooled()).toHaveLength(GENERATIONS);

    ledger.resume();
    await cluster.engines.kafka.start();
    const charged = costs.reduce((sum, cost) => sum + cost, 0n);
    await eventually(
      'all is delivered and charged',
      async () => {
        const credits = await read<{ data: { total_usage: number; reserved: number } }>('/credits');
        const usage = await read<{ totals: { total_cost: number; requests: number } }>('/usage');
        if (credits?.data.reserved !== 0 || usage?.totals.requests !== GENERATIONS) return undefined;
        if (spooled().length > 0) return undefined;
        expect(BigInt(Math.round(credits.data.total_usage * NANO))).toBe(charged);
        expect(BigInt(Math.round(usage.totals.total_cost * NANO))).toBe(charged);
        return true;
      },
      { patienceMs: 90_000 },
    );
  });
});
