import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ServiceName } from '@gateway/cluster';
import { describeWith, kafka, redis } from '@gateway/dev-infra';
import { READERS_OF_FINISHED, READERS_OF_SETTLED, TOPIC_GENERATION_SETTLED } from '@gateway/events';
import { eventually } from '@gateway/test-support';
import { Kafka, logLevel } from 'kafkajs';
import { nanoUsdOf } from '@gateway/load';
import { openLossyCluster, type LossyCluster } from './testing/lossy-cluster';
import { restore, takeBackup } from './testing/postgres-backup';

const engines = {
  name: 'Redis or Kafka',
  howToGet: `${redis.howToGet} ${kafka.howToGet}`,
  isAvailable: () => redis.isAvailable() && kafka.isAvailable(),
};
const STREAMS = 5;

jest.setTimeout(300_000);

/** What docs/operations.md has one do, step by step, and what goes by itself. One cluster: each test leaves it whole. */
describeWith(engines, 'a cluster that loses what it stands on', () => {
  let cluster: LossyCluster;

  beforeAll(async () => {
    cluster = await openLossyCluster();
  });
  afterAll(() => cluster?.stop());

  const spooled = () =>
    readdirSync(path.join(cluster.stateDirectory, 'inference-router-1', 'spool')).filter((file) =>
      file.endsWith('.finished'),
    );

  /** A stream that has begun, and what it costs once it has ended. */
  async function beginStream(number: number): Promise<{ ended: Promise<bigint> }> {
    const answer = await cluster.ask('/chat/completions', {
      model: 'demo/small',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: `Number ${number} [[tokens:60]] [[rate:20]]` }],
    });
    expect(answer.status).toBe(200);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? '';
    const ended = (async () => {
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        text += part.value;
      expect(text).toContain('data: [DONE]');
      return nanoUsdOf(Number(/"cost":([\d.e-]+)/.exec(text)?.[1]));
    })();
    return { ended };
  }

  async function read<Answer>(url: string): Promise<Answer | undefined> {
    const answer = await cluster.ask(url);
    return answer.status === 200 ? ((await answer.json()) as Answer) : undefined;
  }

  async function openHolds(): Promise<number> {
    const rows = await cluster.inPostgres('billing_ledger', 'select 1 from billing_ledger.open_holds');
    return rows.length;
  }

  /** Has a group read again what came since. Its members have to be gone. */
  async function readAgainSince(group: string, topic: string, sinceMs: number): Promise<void> {
    const client = new Kafka({ brokers: [cluster.engines.broker], logLevel: logLevel.NOTHING });
    const admin = client.admin();
    await admin.connect();
    try {
      const partitions = await admin.fetchTopicOffsetsByTimestamp(topic, sinceMs);
      await eventually(
        `${group} has no members`,
        async () =>
          admin.setOffsets({ groupId: `${group}.${topic}`, topic, partitions }).then(
            () => true,
            () => undefined,
          ),
        { patienceMs: 60_000 },
      );
    } finally {
      await admin.disconnect();
    }
  }

  it('keeps through kill -9 of its router what nobody could be told of, and charges it exactly once when Kafka and the ledger are back', async () => {
    const streams = await Promise.all(Array.from({ length: STREAMS }, (_, index) => beginStream(index)));
    const ledger = cluster.replica('billing-ledger');
    ledger.pause();
    await cluster.engines.kafka.kill();
    const costs = await Promise.all(streams.map(({ ended }) => ended));
    expect(spooled()).toHaveLength(STREAMS);

    const router = cluster.replica('inference-router');
    router.kill();
    await eventually('the router runs again', async () => router.starts() === 2 || undefined);
    expect(spooled()).toHaveLength(STREAMS);

    ledger.resume();
    await cluster.engines.kafka.start();
    const charged = costs.reduce((sum, cost) => sum + cost, 0n);
    await eventually(
      'all is delivered and charged',
      async () => {
        const credits = await read<{ data: { total_usage: number; reserved: number } }>('/credits');
        const usage = await read<{ totals: { total_cost: number; requests: number } }>('/usage');
        if (credits?.data.reserved !== 0 || usage?.totals.requests !== STREAMS) return undefined;
        if (spooled().length > 0) return undefined;
        expect(nanoUsdOf(credits.data.total_usage)).toBe(charged);
        expect(nanoUsdOf(usage.totals.total_cost)).toBe(charged);
        return true;
      },
      { patienceMs: 90_000 },
    );
  });

  it('has the books of the moment that PostgreSQL was restored to, and charges what came after from Kafka, exactly once', async () => {
    await cluster.generate(3);
    const backup = await takeBackup(cluster.engines.postgres);
    const before = await cluster.generate(3);
    const atMoment = await cluster.audited();
    expect(atMoment.faults).toEqual([]);
    const momentMs = Date.now();
    await cluster.inPostgres('postgres', `select pg_create_restore_point('moment')`);
    const after = await cluster.generate(4);
    const lost = await cluster.audited();
    expect(lost.chargedNanoUsd).toBe(atMoment.chargedNanoUsd + after.costNanoUsd);
    await cluster.inPostgres('postgres', 'select pg_switch_wal()');

    restore(cluster.engines.postgres, backup, 'moment');
    await eventually(
      'PostgreSQL has reached the moment',
      async () => {
        const [row] = await cluster
          .inPostgres<{ recovering: boolean }>('postgres', 'select pg_is_in_recovery() as recovering')
          .catch(() => []);
        return row?.recovering === false ? true : undefined;
      },
      { patienceMs: 60_000 },
    );
    await cluster.ready();
    expect(await cluster.audited()).toEqual(atMoment);
    await cluster.areKnown(before.ids);
    // Kafka's groups are past what the databases have forgotten, so by itself nothing of it comes back.
    expect(await cluster.statusesOf(after.ids)).toEqual(after.ids.map(() => 404));

    await Promise.all(
      [READERS_OF_FINISHED, READERS_OF_SETTLED].map(async ({ topic, group }) => {
        const readers = cluster.replica(group as ServiceName);
        await readers.stop();
        await readAgainSince(group, topic, momentMs - 60_000);
        await readers.start();
      }),
    );
    await cluster.ready();
    await cluster.areKnown([...before.ids, ...after.ids]);
    // Usage reads of each at once: that it was charged is still in Kafka, from before.
    await eventually(
      'the ledger has read again',
      async () => ((await cluster.audited()).chargedNanoUsd >= lost.chargedNanoUsd ? true : undefined),
      { patienceMs: 90_000 },
    );
    expect(await cluster.audited()).toEqual(lost);
    // And it goes on.
    const { costNanoUsd } = await cluster.generate(2);
    expect(await cluster.audited()).toEqual({
      faults: [],
      chargedNanoUsd: lost.chargedNanoUsd + costNanoUsd,
    });
  });

  it('has the announcements of a Kafka that was lost, and usage is whole again', async () => {
    await cluster.generate(2);
    const aggregator = cluster.replica('usage-aggregator');
    await aggregator.stop();
    const unread = await cluster.complete(3);
    await eventually('they are settled', async () => ((await openHolds()) === 0 ? true : undefined));
    const books = await cluster.audited();

    await cluster.engines.kafka.kill();
    const log = path.join(cluster.stateDirectory, 'kafka', 'log');
    const kept = new Set(['meta.properties', 'bootstrap.checkpoint']);
    for (const name of readdirSync(log)) {
      if (!kept.has(name)) rmSync(path.join(log, name), { recursive: true });
    }
    const ledger = cluster.replica('billing-ledger');
    await Promise.all([cluster.engines.kafka.start(), ledger.stop()]);
    await cluster.inPostgres(
      'billing_ledger',
      `update event_log.consumer_groups set position = 0
        where topic = '${TOPIC_GENERATION_SETTLED}' and group_name = 'relay'`,
    );
    await Promise.all([ledger.start(), aggregator.start()]);
    await cluster.ready();
    await cluster.areKnown(unread.ids);
    expect(await cluster.audited()).toEqual(books);
    await cluster.generate(2);
  });
});
