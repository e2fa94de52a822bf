import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describeWith, localKafka, localRedis, type KafkaServer } from '@gateway/dev-infra';
import { TOPIC_GENERATION_SETTLED } from '@gateway/events';
import { eventually } from '@gateway/test-support';
import { nanoUsdOf } from '@gateway/load';
import { openRecoveryCluster, type RecoveryCluster } from './testing/recovery-cluster';
import { restore, takeBackup } from './testing/postgres-backup';

const datastores = {
  name: 'Redis or Kafka',
  installHint: `${localRedis.installHint} ${localKafka.installHint}`,
  isAvailable: () => localRedis.isAvailable() && localKafka.isAvailable(),
};
const STREAMS = 5;

jest.setTimeout(300_000);

/** Follows the procedures of docs/how-to/back-up-and-restore.md. The tests share one cluster, and each leaves it healthy. */
describeWith(datastores, 'recovery of a cluster', () => {
  let cluster: RecoveryCluster;

  beforeAll(async () => {
    cluster = await openRecoveryCluster();
  });
  afterAll(() => cluster?.stop());

  /** Kafka of the cluster, which is its own. */
  const broker = () => cluster.datastores.kafka as KafkaServer;

  const spooled = () =>
    readdirSync(path.join(cluster.stateDirectory, 'inference-router-1', 'spool')).filter((file) =>
      file.endsWith('.finished'),
    );

  /** Starts a stream. `ended` resolves with its cost. */
  async function startStream(number: number): Promise<{ ended: Promise<bigint> }> {
    const response = await cluster.request('/chat/completions', {
      model: 'demo/small',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: `Number ${number} [[tokens:60]] [[rate:20]]` }],
    });
    expect(response.status).toBe(200);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? '';
    const ended = (async () => {
      for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read())
        text += chunk.value;
      expect(text).toContain('data: [DONE]');
      return nanoUsdOf(Number(/"cost":([\d.e-]+)/.exec(text)?.[1]));
    })();
    return { ended };
  }

  async function read<Body>(url: string): Promise<Body | undefined> {
    const response = await cluster.request(url);
    return response.status === 200 ? ((await response.json()) as Body) : undefined;
  }

  async function openHolds(): Promise<number> {
    const rows = await cluster.inPostgres('billing_ledger', 'select 1 from billing_ledger.open_holds');
    return rows.length;
  }

  it('spooled settlements survive kill -9 of the router and are charged exactly once when Kafka and the ledger have recovered', async () => {
    const streams = await Promise.all(Array.from({ length: STREAMS }, (_, index) => startStream(index)));
    const ledger = cluster.replica('billing-ledger');
    ledger.pause();
    await broker().kill();
    const costs = await Promise.all(streams.map(({ ended }) => ended));
    expect(spooled()).toHaveLength(STREAMS);

    const router = cluster.replica('inference-router');
    router.kill();
    await eventually('the router has restarted', async () => router.starts() === 2 || undefined);
    expect(spooled()).toHaveLength(STREAMS);

    ledger.resume();
    await broker().start();
    const charged = costs.reduce((sum, cost) => sum + cost, 0n);
    await eventually(
      'every generation is delivered and charged',
      async () => {
        const credits = await read<{ data: { total_usage: number; reserved: number } }>('/credits');
        const usage = await read<{ totals: { total_cost: number; requests: number } }>('/usage');
        if (credits?.data.reserved !== 0 || usage?.totals.requests !== STREAMS) return undefined;
        if (spooled().length > 0) return undefined;
        expect(nanoUsdOf(credits.data.total_usage)).toBe(charged);
        expect(nanoUsdOf(usage.totals.total_cost)).toBe(charged);
        return true;
      },
      { timeoutMs: 90_000 },
    );
  });

  it('after a point-in-time restore, the services read Kafka again from that moment, and charge later generations exactly once', async () => {
    await cluster.generate(3);
    const backup = await takeBackup(cluster.datastores.postgres);
    const before = await cluster.generate(3);
    const atRestorePoint = await cluster.audit();
    expect(atRestorePoint.faults).toEqual([]);
    await cluster.inPostgres('postgres', `select pg_create_restore_point('moment')`);
    const after = await cluster.generate(4);
    const latest = await cluster.audit();
    expect(latest.chargedNanoUsd).toBe(atRestorePoint.chargedNanoUsd + after.costNanoUsd);
    await cluster.inPostgres('postgres', 'select pg_switch_wal()');

    restore(cluster.datastores.postgres, backup, 'moment');
    await eventually(
      'PostgreSQL has reached the restore point',
      async () => {
        const [row] = await cluster
          .inPostgres<{ recovering: boolean }>('postgres', 'select pg_is_in_recovery() as recovering')
          .catch(() => []);
        return row?.recovering === false ? true : undefined;
      },
      { timeoutMs: 60_000 },
    );
    await cluster.ready();
    await cluster.waitUntilRecorded([...before.ids, ...after.ids]);
    // Usage records them immediately: their settlement events are still in Kafka.
    await eventually(
      'the ledger has replayed the events',
      async () => ((await cluster.audit()).chargedNanoUsd >= latest.chargedNanoUsd ? true : undefined),
      { timeoutMs: 90_000 },
    );
    expect(await cluster.audit()).toEqual(latest);
    // New generations are charged as usual.
    const { costNanoUsd } = await cluster.generate(2);
    expect(await cluster.audit()).toEqual({
      faults: [],
      chargedNanoUsd: latest.chargedNanoUsd + costNanoUsd,
    });
  });

  it('after the loss of Kafka, the event log publishes its events again, and usage is complete', async () => {
    await cluster.generate(2);
    const aggregator = cluster.replica('usage-aggregator');
    await aggregator.stop();
    const unread = await cluster.complete(3);
    await eventually('every generation is settled', async () =>
      (await openHolds()) === 0 ? true : undefined,
    );
    const snapshot = await cluster.audit();

    await broker().kill();
    const log = path.join(cluster.stateDirectory, 'kafka', 'log');
    const retained = new Set(['meta.properties', 'bootstrap.checkpoint']);
    for (const name of readdirSync(log)) {
      if (!retained.has(name)) rmSync(path.join(log, name), { recursive: true });
    }
    const ledger = cluster.replica('billing-ledger');
    await Promise.all([broker().start(), ledger.stop()]);
    await cluster.inPostgres(
      'billing_ledger',
      `update event_log.consumer_groups set position = 0
        where topic = '${TOPIC_GENERATION_SETTLED}' and group_name = 'relay'`,
    );
    await Promise.all([ledger.start(), aggregator.start()]);
    await cluster.ready();
    await cluster.waitUntilRecorded(unread.ids);
    expect(await cluster.audit()).toEqual(snapshot);
    await cluster.generate(2);
  });
});
