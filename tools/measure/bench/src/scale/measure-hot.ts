import { BILLING_LEDGER_SCHEMA } from '@gateway/billing-ledger';
import { createPool } from '@gateway/database';
import type { Pool } from 'pg';
import { quantile } from '../measure';
import type { Child, Processes } from '../processes';
import type { LoadFigures, LoadOrder } from './ledger-load';
import { openScaleDatabase } from './scale-database';

export interface HotOptions {
  readonly organizations: number;
  /** One organization has half the load. */
  readonly isHot: boolean;
}

export interface HotFigures {
  readonly organizations: number;
  readonly hotShare: number;
  readonly processes: number;
  readonly perSecond: number;
  readonly refused: number;
  /** Sorted, in milliseconds. */
  readonly latencies: Readonly<Record<'hold' | 'hold, hot' | 'settle' | 'settle, hot', Float64Array>>;
  /** Backends that waited for a lock, of those that were at work, over all samples; by what they were about. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly working: number;
  readonly samples: number;
}

const LEDGERS = 2;
const CONCURRENCY = 64;
const WARM_UP_MS = 3_000;
const WINDOW_MS = 15_000;
const SAMPLE_EVERY_MS = 20;
const CREDIT_NANO_USD = 1_000_000_000_000_000n;

/** Two ledger processes on one database, their callers, and someone who looks at who waits for whom. */
export async function measureHot(
  { organizations, isHot }: HotOptions,
  processes: Processes,
  say: (text: string) => void,
): Promise<HotFigures> {
  const database = await openScaleDatabase();
  try {
    say(`Giving ${organizations.toLocaleString('en')} organizations credit`);
    await database.ledgerPool.query(
      `select add_credit('crd-' || n, 'org-' || n, $1, 'bench', 0) from generate_series(0, $2::integer - 1) as n`,
      [CREDIT_NANO_USD, organizations],
    );
    say(`Measuring: ${LEDGERS} ledgers, ${CONCURRENCY} callers each, ${WINDOW_MS / 1_000} s`);
    const hotShare = isHot ? 0.5 : 0;
    const orders = Array.from({ length: LEDGERS }, (_, index): LoadOrder => ({
      url: database.url,
      name: `bench-ledger-${index}`,
      organizations,
      hotShare,
      concurrency: CONCURRENCY,
      warmUpMs: WARM_UP_MS,
      windowMs: WINDOW_MS,
    }));
    const sampler = startSampler(database.url);
    const running = Promise.all(orders.map((order) => runChild(processes, order)));
    // Stopped before the database is, also after a failure.
    const waits = await running.then(sampler.stop, (error: unknown) =>
      sampler.stop().then(() => Promise.reject(error)),
    );
    const loads = await running;
    return { organizations, hotShare, processes: LEDGERS, ...merge(loads), ...waits };
  } finally {
    await database.remove();
  }
}

/** The bench starts itself again as a ledger; the figures come back as a message. */
function runChild(processes: Processes, order: LoadOrder): Promise<LoadFigures> {
  const child: Child = processes.start('others', [
    process.argv[1] ?? '',
    '--ledger-load',
    JSON.stringify(order),
  ]);
  return new Promise((resolve, reject) => {
    child.process.once('message', (figures) => resolve(figures as LoadFigures));
    child.process.once('exit', (code) => reject(new Error(`a ledger ended with ${code}: ${child.output()}`)));
  });
}

function merge(loads: readonly LoadFigures[]): Pick<HotFigures, 'perSecond' | 'refused' | 'latencies'> {
  const sorted = (pick: (load: LoadFigures) => readonly number[]) =>
    Float64Array.from(loads.flatMap(pick)).sort();
  const sum = (pick: (load: LoadFigures) => number) => loads.reduce((total, load) => total + pick(load), 0);
  return {
    perSecond: sum(({ settlements }) => settlements) / (WINDOW_MS / 1_000),
    refused: sum(({ refused }) => refused),
    latencies: {
      hold: sorted(({ holdMs }) => holdMs),
      'hold, hot': sorted(({ hotHoldMs }) => hotHoldMs),
      settle: sorted(({ settleMs }) => settleMs),
      'settle, hot': sorted(({ hotSettleMs }) => hotSettleMs),
    },
  };
}

function startSampler(url: string) {
  const pool: Pool = createPool({
    url,
    schema: BILLING_LEDGER_SCHEMA,
    applicationName: 'bench-sampler',
    maxConnections: 1,
  });
  const waiting: Record<string, number> = {};
  let working = 0;
  let samples = 0;
  let isStopped = false;

  async function sample(): Promise<void> {
    while (!isStopped) {
      const { rows } = await pool.query<{ lock: string | null; backends: number }>(`
        select
          case when wait_event_type = 'Lock' then
            coalesce(substring(query from '(hold_credit|void_holds|open_settlements|book_settlements)'), 'append')
          end as lock,
          count(*)::integer as backends
        from pg_stat_activity
        where application_name like 'bench-ledger-%' and state in ('active', 'idle in transaction')
        group by 1`);
      samples += 1;
      for (const { lock, backends } of rows) {
        working += backends;
        if (lock) waiting[lock] = (waiting[lock] ?? 0) + backends;
      }
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_EVERY_MS));
    }
  }

  const sampling = sample();
  return {
    async stop() {
      isStopped = true;
      await sampling;
      await pool.end();
      return { waiting, working, samples };
    },
  };
}

export function renderHot(figures: HotFigures): string {
  const share = figures.hotShare > 0 ? `, one of which has ${figures.hotShare * 100} % of the load` : '';
  const lines = [
    `${figures.organizations.toLocaleString('en')} organizations${share}; ${figures.processes} ledgers`,
    '',
    '| what | figure |',
    '| --- | ---: |',
    `| holds and settlements per second, each | ${figures.perSecond.toFixed(0)} |`,
    `| refused | ${figures.refused} |`,
  ];
  for (const [what, sorted] of Object.entries(figures.latencies)) {
    if (sorted.length === 0) continue;
    const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)].map((ms) => ms.toFixed(1));
    lines.push(`| ${what}: p50, p99 ms | ${p50}, ${p99} |`);
  }
  const perSample = (count: number) => (count / figures.samples).toFixed(2);
  lines.push(`| transactions under way, on average | ${perSample(figures.working)} |`);
  for (const [lock, count] of Object.entries(figures.waiting)) {
    lines.push(`| of these waiting for a lock in ${lock} | ${perSample(count)} |`);
  }
  return `${lines.join('\n')}\n`;
}
