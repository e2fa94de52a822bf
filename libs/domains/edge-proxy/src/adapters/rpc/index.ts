import type { Clock } from '@gateway/base';
import { type Logger, newId } from '@gateway/runtime';
import type { Registry } from 'prom-client';
import { createGenerationRunner, type GenerationRunnerPorts } from './generation-runner';
import { createLedger, type LedgerPorts } from './ledger';
import { createDroppedReleases } from './metrics';
import { watchModelCatalogue } from './model-catalogue';
import { createRateLimiter, type RateLimiterPorts } from './rate-limiter';
import { createRefusalReporter, type RefusalReporterPorts } from './refusal-reporter';
import { createSettledGenerations, type SettledGenerationsPorts } from './settled-generations';

export { createKeyDirectory, type KeyDirectoryOptions, type KeyDirectoryPorts } from './auth';

export interface RpcServicesPorts extends GenerationRunnerPorts, SettledGenerationsPorts {
  readonly rateLimit: RateLimiterPorts['rateLimit'];
  readonly billingLedger: LedgerPorts['billingLedger'];
  readonly usageAggregator: RefusalReporterPorts['usageAggregator'];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** The services that the edge calls for requests, behind its ports. */
export function createRpcServices({ clock, log, metrics, ...clients }: RpcServicesPorts) {
  const dropped = createDroppedReleases(metrics);
  const common = { now: () => clock.now(), log, onReleaseDropped: (count: number) => dropped.inc(count) };
  return {
    rateLimiter: createRateLimiter({ ...common, rateLimit: clients.rateLimit }),
    ledger: createLedger({ ...common, billingLedger: clients.billingLedger }),
    catalogue: watchModelCatalogue({ inferenceRouter: clients.inferenceRouter, log }),
    generationRunner: createGenerationRunner(clients),
    settledGenerations: createSettledGenerations(clients),
    refusalReporter: createRefusalReporter({ ...clients, reporterId: newId('edge'), log }),
  };
}
