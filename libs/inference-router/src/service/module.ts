import type { Clock } from '@gateway/base';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import type { EventAppender } from '@gateway/events';
import { bindService, type RpcClient } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import type { Logger, Registry } from '@gateway/runtime';
import { Bulkheads } from '../core/resilience/bulkhead';
import type { FinishedSpool } from '../core/ports';
import { createGenerate } from '../core/generation/generate';
import { InFlight } from '../core/generation/in-flight';
import type {
  CatalogueSource,
  CircuitBreakers,
  ProviderTransport,
  Random,
  Timers,
  TokenCounter,
} from '../core/ports';
import { RetryBudgets } from '../core/resilience/retry-budget';
import { createGenerationRecorder } from './generation-recorder';
import { createRouterHandlers } from './handlers';
import { createRouterMetrics } from './metrics';

/** How long a stop waits for generations under way before it cancels them, in milliseconds. */
export const DEFAULT_DRAIN_MS = 30_000;

export interface InferenceRouterPorts {
  readonly catalogue: CatalogueSource;
  readonly transport: ProviderTransport;
  readonly breakers: CircuitBreakers;
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
}

/** The model catalogue and the calls to providers, as one module. It owns its ports: stopping closes them. */
export function createInferenceRouterModule(ports: InferenceRouterPorts): GatewayModule {
  const { catalogue, transport, breakers, timers, log, drainMs = DEFAULT_DRAIN_MS } = ports;
  const { observer, onKept, onReplayed } = createRouterMetrics(ports.metrics, ports.spool, log);
  const recorder = createGenerationRecorder({ ...ports, onKept, onReplayed });
  const inFlight = new InFlight();
  const watches = new AbortController();
  const generate = createGenerate({
    ...ports,
    recorder,
    observer,
    inFlight,
    bulkheads: new Bulkheads(),
    retryBudgets: new RetryBudgets(),
  });
  let stopped: Promise<void> | undefined;

  async function stop(): Promise<void> {
    watches.abort();
    const patience = timers.after(drainMs, () => {
      log.warn({ running: inFlight.size }, 'generations are cancelled by the stop');
      inFlight.cancelAll();
    });
    await inFlight.drain();
    patience.cancel();
    await recorder.stop();
    await catalogue.stop();
    breakers.close();
    await transport.close();
  }

  return {
    name: 'inference-router',
    services: [
      bindService(
        InferenceRouterDefinition,
        createRouterHandlers({ catalogue, generate, stopping: watches.signal }),
      ),
    ],
    consumers: [],
    async start() {
      await catalogue.start();
      await recorder.start();
    },
    stop: () => (stopped ??= stop()),
  };
}
