import { serveEndpoints } from '@gateway/admin-calls';
import { createAuditService, type AuditEntries } from '@gateway/audit';
import type { Clock } from '@gateway/base';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import type { EventAppender } from '@gateway/events';
import { bindService, type RpcClient } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import type { Logger, Registry } from '@gateway/runtime';
import { isDatabaseUnavailable } from '@gateway/database';
import { Bulkheads } from '../core/resilience/bulkhead';
import { createMemorySwitchStore, type SwitchStore } from '../core/resilience/switched-off';
import { TargetHealth } from '../core/resilience/target-health';
import type { ContentStore } from '../core/content-log/ports';
import type { RouterObserver } from '../core/ports';
import type { FinishedSpool } from '../core/ports';
import { createGenerate } from '../core/generation/generate';
import { InFlight } from '../core/generation/in-flight';
import type {
  CatalogueSource,
  CircuitBreakers,
  EncodeThreads,
  ProviderTransport,
  Random,
  Timers,
  TokenCounter,
} from '../core/ports';
import type { ManagedCatalogue } from '../core/catalogue/managed-catalogue';
import { OutputLimitNames } from '../core/provider/output-limit-names';
import { RetryBudgets } from '../core/resilience/retry-budget';
import { createHoldExtender } from './hold-extender';
import { createGenerationRecorder } from './generation-recorder';
import { createCatalogueEndpoints } from './catalogue-endpoints';
import { createContentLogEndpoints, type ContentLogLimits } from './content-log-endpoints';
import { createContentRecorder } from './content-recorder';
import { createEffectiveCatalogue } from './effective-catalogue';
import { createRouterIncidents, type RouterIncidents } from './incidents';
import { createRouterHandlers } from './handlers';
import { createOperatorEndpoints } from './operator-endpoints';
import { createCatalogueMetrics, createRouterMetrics } from './metrics';
import { createSwitchWatch } from './switch-watch';

const DEFAULT_CONTENT_LIMITS: ContentLogLimits = { maxRetentionDays: 30, maxBytes: 256 * 1024 };

/** How long a stop waits for generations in flight before it cancels them, in milliseconds. */
export const DEFAULT_DRAIN_MS = 30_000;
/** Longer than the failover of a database takes. */
const DEFAULT_EXTENSION_RETRY_MS = 10_000;

export interface InferenceRouterPorts {
  readonly catalogue: CatalogueSource;
  /** The catalogue in the database; absent when the catalogue is a file. */
  readonly managedCatalogue?: ManagedCatalogue | undefined;
  readonly transport: ProviderTransport;
  /** Opens a transport for one test of a target. */
  readonly openTestTransport: () => ProviderTransport;
  readonly breakers: CircuitBreakers;
  readonly encodeThreads: EncodeThreads;
  readonly tokenCounter: TokenCounter;
  readonly spool: FinishedSpool;
  readonly events: EventAppender;
  readonly ledger: RpcClient<typeof BillingLedgerDefinition>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly drainMs?: number;
  /** Whether the log has the texts of providers' errors, which may quote prompts. Default false. */
  readonly logsErrorTexts?: boolean;
  /** How long the extension of a hold is repeated while the ledger is unavailable. Default 10,000. */
  readonly extensionRetryMs?: number;
  /** The drained targets; when absent they are in memory of this process. */
  readonly drainStore?: SwitchStore;
  /** The models that operators have disabled; when absent they are in memory of this process. */
  readonly disabledModelStore?: SwitchStore;
  /** The audit entries of the service; absent: none are served. */
  readonly auditEntries?: AuditEntries;
  /** Prompts and responses; absent: no secrets key is configured, so none can be stored. */
  readonly contentStore?: ContentStore | undefined;
  readonly contentLimits?: ContentLogLimits;
  /** Identifies this replica to operators. */
  readonly processName?: string;
}

/** The model catalogue and the calls to providers. The module owns its ports: its stop closes them. */
export function createInferenceRouterModule(ports: InferenceRouterPorts): GatewayModule {
  const { transport, encodeThreads, breakers, timers, log, drainMs = DEFAULT_DRAIN_MS } = ports;
  const { extensionRetryMs = DEFAULT_EXTENSION_RETRY_MS } = ports;
  const { observer, onStored, onReplayed } = createRouterMetrics(ports.metrics, ports.spool, log);
  const recorder = createGenerationRecorder({ ...ports, onStored, onReplayed });
  const limits = ports.contentLimits ?? DEFAULT_CONTENT_LIMITS;
  const { contentStore } = ports;
  const contents =
    contentStore && createContentRecorder({ ...ports, store: contentStore, maxBytes: limits.maxBytes });
  const inFlight = new InFlight();
  const watches = new AbortController();
  const bulkheads = new Bulkheads();
  const health = new TargetHealth(ports.clock);
  const drains = createSwitchWatch(ports.drainStore ?? createMemorySwitchStore(), {
    timers,
    log,
    what: 'drained targets',
  });
  const disabledModels = createSwitchWatch(ports.disabledModelStore ?? createMemorySwitchStore(), {
    timers,
    log,
    what: 'disabled models',
  });
  const catalogue = createEffectiveCatalogue(ports.catalogue, { ...ports, disabledModels });
  const processName = ports.processName ?? 'inference-router';
  if (ports.managedCatalogue) createCatalogueMetrics(ports.metrics, ports.catalogue);
  const incidents = createRouterIncidents({
    ...ports,
    // A switched model corrects no rejected key or name; a new file may.
    catalogue: { ...catalogue, onChange: (listener) => ports.catalogue.onChange(listener) },
    health,
    drains,
    processName,
  });
  const generate = createGenerate({
    ...ports,
    catalogue,
    recorder,
    contents: contents ?? { offer: () => undefined },
    observer: observingHealth(observer, health, incidents),
    inFlight,
    bulkheads,
    drains,
    health,
    retryBudgets: new RetryBudgets(),
    limitNames: new OutputLimitNames(),
  });
  let stopped: Promise<void> | undefined;

  async function stop(): Promise<void> {
    watches.abort();
    const drainTimer = timers.after(drainMs, () => {
      log.warn({ running: inFlight.size }, 'generations are cancelled because the router stops');
      inFlight.cancelAll();
    });
    drains.stop();
    disabledModels.stop();
    await inFlight.drain();
    drainTimer.cancel();
    await recorder.stop();
    await contents?.stop();
    await catalogue.stop();
    breakers.close();
    await Promise.all([transport.close(), encodeThreads.close()]);
  }

  return {
    name: 'inference-router',
    services: [
      bindService(
        InferenceRouterDefinition,
        createRouterHandlers({
          catalogue,
          generate,
          extendHold: createHoldExtender(ports.ledger, { retryMs: extensionRetryMs }),
          stopping: watches.signal,
        }),
      ),
      serveEndpoints(
        'inference-router',
        [
          ...createOperatorEndpoints({
            ...ports,
            catalogue,
            file: ports.catalogue,
            bulkheads,
            health,
            drains,
            disabledModels,
            processName,
          }),
          ...createCatalogueEndpoints({ ...ports, managed: ports.managedCatalogue }),
          ...createContentLogEndpoints({
            ...ports,
            contentLog: contentStore && contents && { store: contentStore, refresh: contents.refresh },
            limits,
          }),
        ],
        { isUnavailable: isDatabaseUnavailable },
      ),
      ...(ports.auditEntries ? [createAuditService([ports.auditEntries])] : []),
    ],
    consumers: [],
    isReady: () => recorder.isReady(),
    incidents: () => incidents.current(),
    async start() {
      // Before the catalogue, so that no edge ever receives a disabled model as enabled.
      await disabledModels.start();
      await drains.start();
      await catalogue.start();
      await recorder.start();
      await contents?.start();
    },
    stop: () => (stopped ??= stop()),
  };
}

/** Passes the events of the metrics to the health figures and the incidents, too. */
function observingHealth(
  observer: RouterObserver,
  health: TargetHealth,
  incidents: RouterIncidents,
): RouterObserver {
  return {
    ...observer,
    attemptEnded(target, outcome, failure) {
      health.ended(target, outcome);
      incidents.attemptEnded(target, outcome);
      observer.attemptEnded(target, outcome, failure);
    },
    firstEventAfter(target, ms) {
      health.firstEvent(target, ms);
      observer.firstEventAfter(target, ms);
    },
  };
}
