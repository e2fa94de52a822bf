import { DAY_MS, HOUR_MS, nanoUsd, utcDay, type Clock, type UnixMs } from '@gateway/base';
import { newId, newRequestId } from '@gateway/runtime';
import {
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createPostgresUsageReconciler,
  type SettledGeneration,
  type StoredGeneration,
  type UsageReader,
} from '@gateway/usage';
import { fillUsage } from './fill-history';
import type { BenchDatabase } from '../bench-database';
import { ROUNDS, row, timed, type HistoryRow } from './timing';

const PAGE = 51;
const BATCHES = [1, 32, 128];
/** Owns half of all generations. */
const ORGANIZATION = 'org-hot';

export interface MeasureUsageOptions {
  readonly rows: number;
  readonly clock: Clock;
  readonly say: (text: string) => void;
}

/** Fills usage with a month of generations and measures pages, lookups, reports and recording. */
export async function measureUsage(
  database: BenchDatabase,
  { rows, clock, say }: MeasureUsageOptions,
): Promise<HistoryRow[]> {
  const end = clock.now();
  const { usagePool } = database;
  say(`Filling usage with ${rows.toLocaleString('en')} generations`);
  await fillUsage(database, rows, end);
  say(`Measuring usage with ${rows.toLocaleString('en')} generations`);
  return [
    ...(await measureReading(createPostgresUsageReader(usagePool), end)),
    ...(await measureRecording(createPostgresSettlementStore(usagePool), clock)),
    ...(await measureReconciling(createPostgresUsageReconciler({ pool: usagePool, clock }), end)),
  ];
}

async function measureReading(reader: UsageReader, end: UnixMs): Promise<HistoryRow[]> {
  const all = {
    organizationId: ORGANIZATION,
    since: undefined,
    until: undefined,
    modelId: undefined,
    keyId: undefined,
    externalUser: undefined,
    status: undefined,
    minCostNanoUsd: undefined,
    maxCostNanoUsd: undefined,
  };
  const places = Array.from({ length: ROUNDS }, (_, index) => ({
    created: (end - (index * 30 * DAY_MS) / ROUNDS) as UnixMs,
    id: 'gen-',
  }));
  const found: SettledGeneration[] = [];
  const days = { startDay: utcDay((end - 30 * DAY_MS) as UnixMs), endDay: utcDay(end) };
  const series = {
    ...all,
    start: (end - 30 * DAY_MS) as UnixMs,
    end,
    splitBy: new Set<never>(),
    projectId: undefined,
  };
  const keyIds = Array.from({ length: 25 }, (_, index) => `key-${index * 2}`);
  const measures: [
    what: string,
    work: (place: (typeof places)[number], index: number) => Promise<unknown>,
  ][] = [
    [
      'a page of 50 generations, anywhere',
      async (place) => found.push(...(await reader.scan(all, place, PAGE)).found.slice(0, 1)),
    ],
    ['a page of failed generations', (place) => reader.scan({ ...all, status: 'failed' }, place, PAGE)],
    [
      'a page filtered by an unused model',
      (place) => reader.scan({ ...all, modelId: 'model-unknown' }, place, PAGE),
    ],
    [
      'a page filtered by a cost above all others',
      (place) => reader.scan({ ...all, minCostNanoUsd: nanoUsd(10n ** 15n) }, place, PAGE),
    ],
    ['one generation by id', (_, index) => reader.findGeneration(ORGANIZATION, found[index]?.id ?? '')],
    [
      'search by request id',
      (_, index) => reader.findByIds(ORGANIZATION, found[index]?.requestId ?? '', PAGE),
    ],
    ['search by an unknown id', (_, index) => reader.findByIds(ORGANIZATION, `gen-unknown-${index}`, PAGE)],
    ["today's activity", () => reader.readNow(ORGANIZATION, end)],
    ['last use and spending of 25 keys', () => reader.readKeyActivity(ORGANIZATION, keyIds, end)],
    [
      'a report of 31 days by day and model',
      () =>
        reader.sumUsage(
          {
            organizationId: ORGANIZATION,
            ...days,
            groupBy: new Set(['day', 'model'] as const),
            modelId: undefined,
            runId: undefined,
            projectId: undefined,
          },
          20_000,
        ),
    ],
    ['a series of 30 days by hour', () => reader.readSeries({ ...series, granularity: 'hour' }, 20_000)],
    ['a series of 30 days by day', () => reader.readSeries({ ...series, granularity: 'day' }, 20_000)],
  ];
  const rows: HistoryRow[] = [];
  for (const [what, work] of measures) {
    rows.push(row(what, await timed([...places.entries()], ([index, place]) => work(place, index))));
  }
  return rows;
}

async function measureRecording(
  store: ReturnType<typeof createPostgresSettlementStore>,
  clock: Clock,
): Promise<HistoryRow[]> {
  await store.prepare(clock.now());
  const rows: HistoryRow[] = [];
  for (const size of BATCHES) {
    const batches = Array.from({ length: ROUNDS }, () =>
      Array.from({ length: size }, () => newGeneration(clock)),
    );
    rows.push(row(`record ${size} generations`, await timed(batches, (batch) => store.record(batch))));
  }
  return rows;
}

function newGeneration(clock: Clock): StoredGeneration {
  const now = clock.now();
  return {
    id: newId('gen'),
    organizationId: `org-${Math.floor(Math.random() * 1_000) * 2 + 1}`,
    keyId: `key-${Math.floor(Math.random() * 50)}`,
    requestId: newRequestId(),
    modelId: `model-${Math.floor(Math.random() * 5)}`,
    provider: 'acme',
    providerModel: 'model',
    createdAt: (now - 2_000) as UnixMs,
    settledAt: now,
    streamed: true,
    cancelled: false,
    finishReason: 'stop',
    usage: {
      promptTokens: 100,
      cachedTokens: 10,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
      completionTokens: 200,
      reasoningTokens: 20,
    },
    usageSource: 'provider',
    costNanoUsd: nanoUsd(1_500_000n),
    chargedNanoUsd: nanoUsd(1_500_000n),
    latencyMs: 300,
    generationTimeMs: 1_200,
    externalUser: undefined,
    runId: undefined,
    projectId: '',
    errorCode: undefined,
    timeToFirstTokenMs: 400,
    attempts: [
      { provider: 'acme', providerModel: 'model', reason: 'order', outcome: 'ok', durationMs: 1_500 },
    ],
    providerCostNanoUsd: nanoUsd(1_000_000n),
    prices: {
      inputNanoUsdPerMillion: 150_000_000n,
      cachedInputNanoUsdPerMillion: 75_000_000n,
      cacheWriteNanoUsdPerMillion: 75_000_000n,
      cacheWrite1hNanoUsdPerMillion: 75_000_000n,
      outputNanoUsdPerMillion: 600_000_000n,
      reasoningNanoUsdPerMillion: 600_000_000n,
      imageNanoUsdPerMillion: 150_000_000n,
      tiers: [],
    },
  };
}

/** Reconciles one hour of many small organizations; the ledger's sums do not affect the duration. */
async function measureReconciling(
  reconciler: ReturnType<typeof createPostgresUsageReconciler>,
  end: UnixMs,
): Promise<HistoryRow[]> {
  const hour = (Math.floor(end / HOUR_MS) - 2) * HOUR_MS;
  const rounds = Array.from({ length: 10 }, (_, round) =>
    Array.from({ length: 100 }, (_each, index) => ({
      organizationId: `org-${(round * 100 + index) * 2 + 1}`,
      fromUnixMs: hour as UnixMs,
      untilUnixMs: (hour + HOUR_MS) as UnixMs,
      hourUnixMs: hour as UnixMs,
      generations: 0n,
      costNanoUsd: nanoUsd(0n),
      chargedNanoUsd: nanoUsd(0n),
    })),
  );
  const times = await timed(rounds, async (windows) => {
    await reconciler.storeAnnounced(windows);
    await reconciler.reconcile(windows.length);
  });
  return [row('reconcile an hour of 100 organizations', times)];
}
