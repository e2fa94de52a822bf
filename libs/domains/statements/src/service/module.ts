import { serveEndpoints } from '@gateway/admin-calls';
import { createAuditService, type AuditEntries } from '@gateway/audit';
import type { Clock } from '@gateway/base';
import { LedgerUnavailableError, type LedgerStore } from '@gateway/billing-ledger/core';
import type { GatewayModule } from '@gateway/module';
import type { Logger, Registry } from '@gateway/runtime';
import type {
  AlertSender,
  BudgetSource,
  CreditAlertStore,
  LedgerReconciler,
  StatementStore,
} from '../core/ports';
import { createAlertDispatcher } from './alert-dispatcher';
import { createAlertEndpoints } from './alert-endpoints';
import { createBudgetAlerts, type BudgetAlertPorts } from './budget-alerts';
import { createCreditEndpoints } from './credit-endpoints';
import { createReconciliationMetrics } from './metrics';
import { createLedgerReconciliation } from './reconciliation';
import { createStatementEndpoints } from './statement-endpoints';

export interface StatementsPorts {
  /** The store of the billing-ledger library. */
  readonly ledger: Pick<LedgerStore, 'addCredit' | 'readBalance' | 'readHealth'>;
  readonly statements: StatementStore;
  readonly alerts: CreditAlertStore;
  /** Each sends an alert to the recipients of its channel. */
  readonly alertSenders: readonly AlertSender[];
  /** Why a webhook URL is refused; undefined if it is accepted. */
  readonly webhookUrlIssue: (url: string) => string | undefined;
  readonly reconciler: LedgerReconciler;
  readonly budgetAlerts: Pick<BudgetAlertPorts, 'alerts' | 'sender' | 'sendsMail'>;
  /** Absent: no alerts about budgets. */
  readonly budgets?: BudgetSource | undefined;
  /** The audit entries of the service, which this module serves. */
  readonly auditEntries: readonly AuditEntries[];
  readonly newId: (prefix: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** How often balances and budgets are compared with their alerts. Default 5,000. */
  readonly alertIntervalMs?: number;
  /** How often a part of the ledger is compared with its postings. Default 60,000. */
  readonly reconciliationIntervalMs?: number;
}

const DEFAULT_ALERT_INTERVAL_MS = 5_000;
const DEFAULT_RECONCILIATION_INTERVAL_MS = 60_000;

/** Statements, corrections, alerts of a low balance and of spent budgets, and reconciliation. */
export function createStatementsModule(options: StatementsPorts): GatewayModule {
  const { alerts, clock } = options;
  const log = options.log.child({ module: 'statements' });
  const dispatcher = createAlertDispatcher({
    alerts,
    senders: options.alertSenders,
    log,
    intervalMs: options.alertIntervalMs ?? DEFAULT_ALERT_INTERVAL_MS,
  });
  const budgetAlerts =
    options.budgets &&
    createBudgetAlerts({
      ...options.budgetAlerts,
      budgets: options.budgets,
      log,
      intervalMs: options.alertIntervalMs ?? DEFAULT_ALERT_INTERVAL_MS,
    });
  const reconciliation = createLedgerReconciliation({
    reconciler: options.reconciler,
    clock,
    log,
    metrics: createReconciliationMetrics(options.metrics),
    intervalMs: options.reconciliationIntervalMs ?? DEFAULT_RECONCILIATION_INTERVAL_MS,
  });

  return {
    name: 'statements',
    services: [
      serveEndpoints(
        'billing-ledger',
        [
          ...createCreditEndpoints(options),
          ...createStatementEndpoints(options),
          ...createAlertEndpoints({ ...options, dispatcher }),
        ],
        { isUnavailable: (error) => error instanceof LedgerUnavailableError },
      ),
      createAuditService(options.auditEntries),
    ],
    consumers: [],
    incidents() {
      const differences = reconciliation.differences();
      if (differences === 0) return [];
      return [
        { cause: 'ledger_mismatch', subject: 'billing-ledger', details: `differences: ${differences}` },
      ] as const;
    },
    async start() {
      reconciliation.start();
      dispatcher.start();
      budgetAlerts?.start();
    },
    async stop() {
      await Promise.all([reconciliation.stop(), dispatcher.stop(), budgetAlerts?.stop()]);
    },
  };
}
