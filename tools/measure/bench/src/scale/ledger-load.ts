import { type UnixMs } from '@gateway/base';
import {
  BILLING_LEDGER_SCHEMA,
  createBillingLedgerModule,
  createPostgresClaimStore,
  createPostgresLedgerHistory,
  createPostgresLedgerStore,
  createPostgresReconciler,
} from '@gateway/billing-ledger';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationFinished } from '@gateway/contracts/events';
import { createPool } from '@gateway/database';
import { createPostgresEventLog, EVENT_LOG_SCHEMA } from '@gateway/events';
import { createClient, createInProcessTransport } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId } from '@gateway/runtime';

/** What one ledger process is asked to do. */
export interface LoadOrder {
  readonly url: string;
  readonly name: string;
  readonly organizations: number;
  /** What share of the load is the first organization's. */
  readonly hotShare: number;
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

export interface LoadFigures {
  readonly holds: number;
  readonly settlements: number;
  readonly holdMs: readonly number[];
  readonly hotHoldMs: readonly number[];
  readonly settleMs: readonly number[];
  readonly hotSettleMs: readonly number[];
  readonly refused: number;
}

const PRICES = {
  inputNanoUsdPerMillion: 1_000_000n,
  cachedInputNanoUsdPerMillion: 1_000_000n,
  outputNanoUsdPerMillion: 1_000_000n,
  reasoningNanoUsdPerMillion: 1_000_000n,
  imageNanoUsdPerMillion: 0n,
};

/**
 * A ledger as the gateway runs it (its service with its batchers, its
 * housekeeping), and callers who hold, then settle, one request after another.
 */
export async function runLedgerLoad(order: LoadOrder): Promise<LoadFigures> {
  const open = (schema: string) =>
    createPool({ url: order.url, schema, applicationName: order.name, maxConnections: 10 });
  const pools = { ledger: open(BILLING_LEDGER_SCHEMA), events: open(EVENT_LOG_SCHEMA) };
  const clock = { now: () => Date.now() as UnixMs };
  const log = createSilentLogger();
  const metrics = createMetrics({ processMetrics: false });
  const eventLog = createPostgresEventLog({ pool: pools.events, clock, log, metrics });
  await eventLog.start();
  const module = createBillingLedgerModule({
    store: createPostgresLedgerStore({ pool: pools.ledger, appender: eventLog, clock }),
    claims: createPostgresClaimStore({ pool: pools.ledger, clock }),
    history: createPostgresLedgerHistory({ pool: pools.ledger, clock }),
    reconciler: createPostgresReconciler({ pool: pools.ledger, appender: eventLog, clock }),
    clock,
    log,
    metrics,
  });
  await module.start();
  const figures = await drive(module.services, order, log);
  await module.stop();
  await eventLog.stop();
  await Promise.all([pools.ledger.end(), pools.events.end()]);
  return figures;
}

type Services = Parameters<typeof createInProcessTransport>[0];

async function drive(
  services: Services,
  order: LoadOrder,
  log: ReturnType<typeof createSilentLogger>,
): Promise<LoadFigures> {
  const transport = createInProcessTransport(services, { log, freezesMessages: false });
  const ledger = createClient(BillingLedgerDefinition, transport);
  const begin = performance.now() + order.warmUpMs;
  const end = begin + order.windowMs;
  const figures = {
    holds: 0,
    settlements: 0,
    refused: 0,
    holdMs: [] as number[],
    hotHoldMs: [] as number[],
    settleMs: [] as number[],
    hotSettleMs: [] as number[],
  };

  async function caller(): Promise<void> {
    while (performance.now() < end) {
      const isHot = Math.random() < order.hotShare;
      const organizationId = `org-${isHot ? 0 : Math.floor(Math.random() * order.organizations)}`;
      const id = newId('gen');
      const now = BigInt(Date.now());
      const common = { organizationId, keyId: `key-${organizationId}`, prices: PRICES, createdUnixMs: now };
      const started = performance.now();
      const { results } = await ledger.holdCredit(
        { holds: [{ ...common, holdId: id, amountNanoUsd: 1_000n, deadlineUnixMs: now + 660_000n }] },
        { timeoutMs: 30_000 },
      );
      const held = performance.now();
      const counts = started >= begin;
      if (results[0]?.outcome?.$case !== 'held') {
        if (counts) figures.refused += 1;
        continue;
      }
      const usage = {
        promptTokens: 500,
        cachedTokens: 0,
        imageTokens: 0,
        completionTokens: 200,
        reasoningTokens: 0,
      };
      await ledger.settleGenerations(
        { generations: [GenerationFinished.fromPartial({ ...common, generationId: id, usage })] },
        { timeoutMs: 30_000 },
      );
      const settled = performance.now();
      if (!counts || settled > end) continue;
      figures.holds += 1;
      figures.settlements += 1;
      (isHot ? figures.hotHoldMs : figures.holdMs).push(held - started);
      (isHot ? figures.hotSettleMs : figures.settleMs).push(settled - held);
    }
  }

  await Promise.all(Array.from({ length: order.concurrency }, caller));
  return figures;
}
