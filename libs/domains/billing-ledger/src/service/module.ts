import type { Clock } from '@gateway/base';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { handlersUnavailableAsNoCapacity } from '@gateway/errors';
import { createDeadLetterService, deadLetterIncidents, type InspectableEventLog } from '@gateway/events';
import { bindService } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import type { Logger, Registry } from '@gateway/runtime';
import { LedgerUnavailableError, type ClaimStore, type LedgerHistory, type LedgerStore } from '../core/ports';
import { createFinishedConsumer } from './consumer';
import { createHandlers } from './handlers';
import { createExtensionBatcher } from './extension-batcher';
import { createHoldBatcher } from './hold-batcher';
import { createLedgerMaintenance } from './maintenance';
import { createLedgerMetrics } from './metrics';
import { createClaimBatcher } from './claim-batcher';
import { createSettleBatcher } from './settle-batcher';
import { createSettler } from './settler';
import { createVoidBatcher } from './void-batcher';

export interface BillingLedgerPorts {
  readonly store: LedgerStore;
  readonly claims: ClaimStore;
  readonly history: LedgerHistory;
  /** The event log whose lag and dead letters are served, for this module's consumer group. */
  readonly events?: InspectableEventLog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** How often overdue holds are voided and expired claims deleted. Default 5,000. */
  readonly maintenanceIntervalMs?: number;
}

const DEFAULT_MAINTENANCE_INTERVAL_MS = 5_000;

/** The billing-ledger: its service, its consumer of generation.finished and its maintenance. */
export function createBillingLedgerModule(options: BillingLedgerPorts): GatewayModule {
  const { store, claims, history, clock } = options;
  const log = options.log.child({ module: 'billing-ledger' });
  const metrics = createLedgerMetrics(options.metrics);
  const settle = createSettler({ store, clock, metrics });
  const holdBatcher = createHoldBatcher(store, metrics);
  const extensionBatcher = createExtensionBatcher(store, metrics);
  const voidBatcher = createVoidBatcher(store, metrics);
  const settleBatcher = createSettleBatcher(settle);
  const claimBatcher = createClaimBatcher(claims);
  const maintenance = createLedgerMaintenance({
    store,
    claims,
    history,
    clock,
    log,
    metrics,
    intervalMs: options.maintenanceIntervalMs ?? DEFAULT_MAINTENANCE_INTERVAL_MS,
  });

  const consumers = [createFinishedConsumer(settle, log)];

  return {
    name: 'billing-ledger',
    services: [
      bindService(
        BillingLedgerDefinition,
        handlersUnavailableAsNoCapacity(
          createHandlers({
            store,
            claims,
            clock,
            holdBatcher,
            extensionBatcher,
            voidBatcher,
            settleBatcher,
            claimBatcher,
          }),
          isLedgerUnavailable,
        ),
      ),
      ...(options.events ? [createDeadLetterService(options.events, consumers, clock)] : []),
    ],
    consumers,
    incidents: () => (options.events ? deadLetterIncidents(options.events, consumers) : []),
    async start() {
      await maintenance.start();
    },
    async stop() {
      await maintenance.stop();
      const batchers = [holdBatcher, extensionBatcher, voidBatcher, settleBatcher, claimBatcher];
      await Promise.all(batchers.map((batcher) => batcher.idle()));
    },
  };
}

function isLedgerUnavailable(error: unknown): boolean {
  return error instanceof LedgerUnavailableError;
}
