import { createAuditEntries } from '@gateway/audit';
import {
  BILLING_LEDGER_SCHEMA,
  billingLedgerSettingsOf,
  createBillingLedgerAdapters,
  createBillingLedgerModule,
  type BillingLedgerEnvironment,
  type BillingLedgerPorts,
} from '@gateway/billing-ledger';
import type { BudgetsDefinition } from '@gateway/contracts/auth';
import type { RpcClient } from '@gateway/rpc';
import { newId } from '@gateway/runtime';
import type { webhookEnvironment } from '@gateway/webhooks';
import type { z } from 'zod';
import { createStatementsAdapters, type StatementsAdapterOptions } from './adapters/create-adapters';
import { createBudgetSource } from './adapters/rpc/budget-source';
import { createStatementsModule } from './service/module';

export interface OpenLedgerOptions
  extends
    Pick<StatementsAdapterOptions, 'pool' | 'appender' | 'mailer' | 'encryptionKeys' | 'dashboardUrl'>,
    Pick<BillingLedgerPorts, 'clock' | 'events' | 'log' | 'metrics'> {
  /** For alerts about budgets. */
  readonly auth: RpcClient<typeof BudgetsDefinition>;
  readonly config: BillingLedgerEnvironment & z.output<z.ZodObject<typeof webhookEnvironment>>;
}

/** Both modules of the billing-ledger service with their adapters, for every app that runs them. */
export function openLedgerModules({
  config,
  pool,
  appender,
  mailer,
  encryptionKeys,
  dashboardUrl,
  auth,
  ...deps
}: OpenLedgerOptions) {
  const { clock, log, metrics } = deps;
  const adapters = createBillingLedgerAdapters({
    pool,
    appender,
    clock,
    settings: billingLedgerSettingsOf(config),
  });
  const settings = { allowPrivateAddresses: config.GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES };
  return {
    billingLedger: createBillingLedgerModule({ ...adapters, ...deps }),
    statements: createStatementsModule({
      ...createStatementsAdapters({
        pool,
        appender,
        clock,
        mailer,
        encryptionKeys,
        dashboardUrl,
        log,
        settings,
        timeZones: async (emails) => (await auth.listTimeZones({ emails: [...emails] })).timeZones,
        organizationName: async (organizationId) => (await auth.getOrganizationName({ organizationId })).name,
      }),
      ledger: adapters.store,
      budgets: createBudgetSource(auth),
      auditEntries: [
        createAuditEntries(pool, BILLING_LEDGER_SCHEMA),
        ...(deps.events ? [deps.events.deadLetters.auditEntries] : []),
      ],
      newId,
      clock,
      log,
      metrics,
    }),
  };
}
