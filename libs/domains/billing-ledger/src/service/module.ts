import type { Clock } from '@gateway/base';
import { BillingLedgerAdminDefinition, BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { handlersUnavailableAsNoCapacity } from '@gateway/errors';
import { createDeadLetterService, type WatchedEventLog } from '@gateway/events';
import { bindService } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import type { Logger, Registry } from '@gateway/runtime';
import {
  type AlertSender,
  type ClaimStore,
  type CreditAlertStore,
  type LedgerBooks,
  type LedgerHistory,
  type LedgerReconciler,
  type LedgerStore,
  LedgerUnavailableError,
} from '../core/ports';
import { createAdminHandlers } from './admin-handlers';
import { createAlertDispatcher } from './alert-dispatcher';
import { createFinishedConsumer } from './consumer';
import { createHandlers } from './handlers';
import { createHoldBatcher } from './hold-batcher';
import { createHousekeeping } from './housekeeping';
import { createLedgerMetrics } from './metrics';
import { createReconciliation } from './reconciliation';
import { createClaimBatcher } from './claim-batcher';
import { createSettleBatcher } from './settle-batcher';
import { createSettler } from './settler';
import { createVoidBatcher } from './void-batcher';

export interface LedgerAdminPorts {
  readonly books: LedgerBooks;
  readonly alerts: CreditAlertStore;
  /** Each brings an alert to those recipients that it is for. */
  readonly alertSenders: readonly AlertSender[];
  /** What is wrong with an address for webhooks; undefined when nothing is. */
  readonly faultOfWebhookUrl: (url: string) => string | undefined;
  readonly newId: (prefix: string) => string;
}

export interface BillingLedgerPorts {
  readonly store: LedgerStore;
  readonly claims: ClaimStore;
  readonly history: LedgerHistory;
  /** What people look at and correct, and whom it tells of a low balance; absent: it serves requests only. */
  readonly admin?: LedgerAdminPorts;
  readonly reconciler: LedgerReconciler;
  /** Whose lag and dead letters are served, for the group of this module. */
  readonly events?: WatchedEventLog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** How often overdue holds are voided and old claims forgotten, in milliseconds. Default 5 seconds. */
  readonly housekeepingIntervalMs?: number;
  /** How often a part of the books is compared with the postings, in milliseconds. Default a minute. */
  readonly reconciliationIntervalMs?: number;
}

const DEFAULT_HOUSEKEEPING_INTERVAL_MS = 5_000;
const DEFAULT_RECONCILIATION_INTERVAL_MS = 60_000;

/** The billing-ledger: its service, its consumer of generation.finished and its housekeeping. */
export function createBillingLedgerModule(options: BillingLedgerPorts): GatewayModule {
  const { store, claims, history, clock } = options;
  const log = options.log.child({ module: 'billing-ledger' });
  const metrics = createLedgerMetrics(options.metrics);
  const settle = createSettler({ store, clock, metrics });
  const holdBatcher = createHoldBatcher(store, metrics);
  const voidBatcher = createVoidBatcher(store, metrics);
  const settleBatcher = createSettleBatcher(settle);
  const claimBatcher = createClaimBatcher(claims);
  const housekeeping = createHousekeeping({
    store,
    claims,
    history,
    books: options.admin?.books,
    clock,
    log,
    metrics,
    intervalMs: options.housekeepingIntervalMs ?? DEFAULT_HOUSEKEEPING_INTERVAL_MS,
  });
  const reconciliation = createReconciliation({
    reconciler: options.reconciler,
    clock,
    log,
    metrics,
    intervalMs: options.reconciliationIntervalMs ?? DEFAULT_RECONCILIATION_INTERVAL_MS,
  });

  const admin = options.admin && {
    ...options.admin,
    dispatcher: createAlertDispatcher({
      alerts: options.admin.alerts,
      senders: options.admin.alertSenders,
      clock,
      log,
      intervalMs: options.housekeepingIntervalMs ?? DEFAULT_HOUSEKEEPING_INTERVAL_MS,
    }),
  };

  const consumers = [createFinishedConsumer(settle, log)];

  return {
    name: 'billing-ledger',
    services: [
      bindService(
        BillingLedgerDefinition,
        handlersUnavailableAsNoCapacity(
          createHandlers({ store, claims, clock, holdBatcher, voidBatcher, settleBatcher, claimBatcher }),
          isLedgerUnavailable,
        ),
      ),
      ...(admin
        ? [
            bindService(
              BillingLedgerAdminDefinition,
              handlersUnavailableAsNoCapacity(createAdminHandlers({ ...admin, store }), isLedgerUnavailable),
            ),
          ]
        : []),
      ...(options.events ? [createDeadLetterService(options.events, consumers)] : []),
    ],
    consumers,
    async start() {
      await housekeeping.start();
      reconciliation.start();
      admin?.dispatcher.start();
    },
    async stop() {
      await Promise.all([housekeeping.stop(), reconciliation.stop(), admin?.dispatcher.stop()]);
      const batchers = [holdBatcher, voidBatcher, settleBatcher, claimBatcher];
      await Promise.all(batchers.map((batcher) => batcher.idle()));
    },
  };
}

function isLedgerUnavailable(error: unknown): boolean {
  return error instanceof LedgerUnavailableError;
}
