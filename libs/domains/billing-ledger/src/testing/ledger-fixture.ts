import {
  nanoUsd,
  type Budget,
  type BudgetPeriod,
  type BudgetScope,
  type Clock,
  type NanoUsd,
  type Prices,
  type UnixMs,
} from '@gateway/base';
import { GenerationSettled } from '@gateway/contracts/events';
import { applyMigrations, createPool } from '@gateway/database';
import type { TransactionalAppender } from '@gateway/events';
import {
  createDatabaseTestClock,
  createTestDatabase,
  type DatabaseTestClock,
  type TestDatabase,
} from '@gateway/test-support';
import type { Pool, PoolClient } from 'pg';
import { createPostgresClaimStore } from '../adapters/postgres/claim-store';
import { createPostgresLedgerHistory } from '../adapters/postgres/ledger-history';
import { createPostgresLedgerStore } from '../adapters/postgres/ledger-store';
import { BILLING_LEDGER_SCHEMA, billingLedgerSchema } from '../adapters/postgres/sql/schema';
import type { HoldRequest } from '../core/credit/hold';
import type { Announce, ClaimStore, LedgerHistory, LedgerStore } from '../core/ports';
import type { FinishedGeneration } from '../core/settlement/settlement';

/** One ledger process with its own connections to the shared database. */
export interface LedgerInstance {
  readonly pool: Pool;
  readonly store: LedgerStore;
  readonly claims: ClaimStore;
  readonly history: LedgerHistory;
}

export interface LedgerFixture {
  readonly database: TestDatabase;
  readonly clock: DatabaseTestClock;
  /** Writes announcements to a plain table, which `announced` reads. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly first: LedgerInstance;
  readonly second: LedgerInstance;
  /** Connections that belong to neither ledger. */
  readonly auditPool: Pool;
  /** The announced settlements, oldest first. */
  announced(): Promise<GenerationSettled[]>;
  /** The announcements that the ledgers reported as committed, in that order. */
  readonly committed: readonly GenerationSettled[];
  close(): Promise<void>;
}

/** Two ledgers on one new database, with a plain table as event log. */
export async function createLedgerFixture(): Promise<LedgerFixture> {
  const database = await createTestDatabase();
  const committed: GenerationSettled[] = [];
  const appender = createTableAppender(committed);
  const auditPool = createPool({
    url: database.url,
    schema: BILLING_LEDGER_SCHEMA,
    applicationName: 'auditor',
    maxConnections: 2,
    queryTimeoutMs: 0,
  });
  await applyMigrations(auditPool, billingLedgerSchema);
  const clock = await createDatabaseTestClock(auditPool);
  const instances = [1, 2].map((number) => createInstance(database.url, `ledger-${number}`, clock, appender));
  const [first, second] = instances as [LedgerInstance, LedgerInstance];
  await first.history.prepare();
  await auditPool.query('create table announced (position bigserial primary key, payload bytea not null)');

  return {
    database,
    clock,
    appender,
    first,
    second,
    auditPool,
    committed,
    async announced() {
      const { rows } = await auditPool.query<{ payload: Buffer }>(
        'select payload from announced order by position',
      );
      return rows.map(({ payload }) => GenerationSettled.decode(payload));
    },
    async close() {
      await Promise.all(
        [auditPool, first.pool, second.pool].map((pool) => (pool.ended ? undefined : pool.end())),
      );
      await database.drop();
    },
  };
}

function createInstance(
  url: string,
  applicationName: string,
  clock: Clock,
  appender: TransactionalAppender<PoolClient>,
): LedgerInstance {
  const pool = createPool({ url, schema: BILLING_LEDGER_SCHEMA, applicationName, maxConnections: 8 });
  return {
    pool,
    store: createPostgresLedgerStore({ pool, appender, clock }),
    claims: createPostgresClaimStore({ pool }),
    history: createPostgresLedgerHistory({ pool, clock }),
  };
}

/** Discards announcements. */
export const silentAppender: TransactionalAppender<PoolClient> = {
  appending: () => ({ write: async () => undefined, committed: () => undefined }),
};

function createTableAppender(committed: GenerationSettled[]): TransactionalAppender<PoolClient> {
  return {
    appending: (_topic, events) => ({
      async write(client) {
        await client.query('insert into announced (payload) select unnest($1::bytea[])', [
          events.map(({ payload }) => Buffer.from(payload)),
        ]);
      },
      committed() {
        committed.push(...events.map(({ payload }) => GenerationSettled.decode(payload)));
      },
    }),
  };
}

/** A minimal announcement, for tests of the store without its service. */
export const announce: Announce = (
  { generationId, organizationId, createdAt, costNanoUsd, chargedNanoUsd },
  postedUnixMs,
) => ({
  key: organizationId,
  payload: GenerationSettled.encode(
    GenerationSettled.fromPartial({
      finished: { generationId, organizationId, createdUnixMs: BigInt(createdAt) },
      costNanoUsd,
      chargedNanoUsd,
      settledUnixMs: BigInt(postedUnixMs),
    }),
  ).finish(),
});

/**
 * One nano-dollar per output token, so that a generation with only output tokens
 * costs as many nano-dollars. The other kinds have distinct prices, so that a test
 * notices when one is charged at another's price.
 */
export const UNIT_PRICES: Prices = {
  inputNanoUsdPerMillion: 2_000_000n,
  cachedInputNanoUsdPerMillion: 3_000_000n,
  cacheWriteNanoUsdPerMillion: 11_000_000n,
  cacheWrite1hNanoUsdPerMillion: 13_000_000n,
  outputNanoUsdPerMillion: 1_000_000n,
  reasoningNanoUsdPerMillion: 5_000_000n,
  imageNanoUsdPerMillion: 7_000_000n,
  tiers: [],
};

const HOLD_LIFETIME_MS = 600_000;

/** Nano-dollars by period; of rolling windows by their hours. */
interface PeriodAmounts extends Partial<Record<Exclude<BudgetPeriod, 'window'>, number | undefined>> {
  readonly window?: Readonly<Record<number, number>>;
}

export interface Amounts extends PeriodAmounts {
  /** By the pattern of models. */
  readonly models?: Readonly<Record<string, PeriodAmounts>>;
}

/** What differs from a plain hold; the budgets of its owners by scope. */
export interface HoldChanges extends Partial<Omit<HoldRequest, 'budgets'>> {
  readonly limits?: Partial<Record<BudgetScope, Amounts>>;
}

export function makeHold({
  amount,
  at,
  limits = {},
  ...changes
}: HoldChanges & { holdId: string; amount: number; at: UnixMs }): HoldRequest {
  const hold = {
    organizationId: 'org-a',
    keyId: 'key-a',
    amountNanoUsd: usdNano(amount),
    prices: UNIT_PRICES,
    createdAt: at,
    lifetimeMs: HOLD_LIFETIME_MS,
    idempotencyScope: undefined,
    runId: undefined,
    projectId: undefined,
    ...changes,
  };
  return { ...hold, budgets: budgetsOf(hold, limits) };
}

export function budgetsOf(
  { keyId, projectId = '', runId = '' }: Pick<HoldRequest, 'keyId' | 'projectId' | 'runId'>,
  limits: Partial<Record<BudgetScope, Amounts>>,
  endUser = 'user-a',
): Budget[] {
  const owners = { organization: '', key: keyId, end_user: keyId, project: projectId, run: runId };
  return (Object.entries(limits) as [BudgetScope, Amounts][]).flatMap(
    ([scope, { models = {}, ...amounts }]) => {
      const owner = { scope, ownerId: owners[scope], ...(scope === 'end_user' && { endUser }) };
      const ofModels = Object.entries(models).flatMap(([model, each]) =>
        periodBudgets({ ...owner, model }, each),
      );
      return [...periodBudgets(owner, amounts), ...ofModels];
    },
  );
}

function periodBudgets(owner: Omit<Budget, 'period' | 'amountNanoUsd'>, amounts: PeriodAmounts): Budget[] {
  return Object.entries(amounts).flatMap(
    ([period, amount]: [string, number | PeriodAmounts['window']]): Budget[] => {
      const budget = { ...owner, period: period as BudgetPeriod };
      if (amount === undefined) return [];
      if (typeof amount === 'number') return [{ ...budget, amountNanoUsd: usdNano(amount) }];
      return Object.entries(amount).map(([hours, most]) => ({
        ...budget,
        amountNanoUsd: usdNano(most),
        hours: Number(hours),
      }));
    },
  );
}

export function makeFinished(
  finished: { generationId: string; cost: number; at: UnixMs } & Partial<FinishedGeneration>,
): FinishedGeneration {
  const { cost, at, ...rest } = finished;
  return {
    organizationId: 'org-a',
    keyId: 'key-a',
    projectId: undefined,
    createdAt: at,
    usage: {
      promptTokens: 0,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
      completionTokens: cost,
      reasoningTokens: 0,
    },
    prices: UNIT_PRICES,
    endedClaim: undefined,
    ...rest,
  };
}

export function usdNano(amount: number): NanoUsd {
  return nanoUsd(BigInt(amount));
}
