import { createLogSampler, usdNumber } from '@gateway/base';
import { type BoundLatency, createLatencyHistogram, type Logger, type Registry } from '@gateway/runtime';
import { Counter, Gauge } from 'prom-client';
import { targetKey, type Target } from '../core/catalogue/model-catalogue';
import type { AttemptOutcome } from '../core/generation/attempt-outcome';
import type { CatalogueSource, FinishedSpool, RouterObserver } from '../core/ports';
import type { StoredIn } from './generation-recorder';

const FIRST_EVENT_BUCKETS_S = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Failures that an operator has to fix; they are logged as errors. */
const CONFIGURATION_FAILURES = new Set(['misconfigured']);

/** Repeated log lines of a target are sampled: one line per interval, with the number of suppressed ones. */
const LOG_SAMPLE_INTERVAL_MS = 5_000;

export interface RouterMetrics {
  readonly observer: RouterObserver;
  onStored(where: StoredIn): void;
  onReplayed(): void;
}

interface BoundInstruments {
  readonly firstEvent: BoundLatency;
  readonly outcomes: Map<AttemptOutcome, Counter.Internal>;
}

/** Creates the router's metrics, and writes the log lines that belong to them. */
export function createRouterMetrics(registry: Registry, spool: FinishedSpool, log: Logger): RouterMetrics {
  const registers = [registry];
  const target = ['provider', 'model'] as const;
  const calls = new Counter({
    name: 'gateway_inference_router_calls_total',
    help: 'Calls to providers by outcome.',
    labelNames: [...target, 'outcome'] as const,
    registers,
  });
  const retries = new Counter({
    name: 'gateway_inference_router_retries_total',
    help: 'Retries of a target after a failure before its first event.',
    labelNames: [...target],
    registers,
  });
  const failovers = new Counter({
    name: 'gateway_inference_router_failovers_total',
    help: 'Generations that failed over to this target.',
    labelNames: [...target],
    registers,
  });
  const firstEvent = createLatencyHistogram({
    name: 'gateway_inference_router_first_event_seconds',
    help: 'Time from sending a request to its first event, or to the whole response when not streaming.',
    labelNames: [...target],
    buckets: FIRST_EVENT_BUCKETS_S,
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: 'gateway_inference_router_in_flight',
    help: 'Generations in flight.',
    collect() {
      this.set(inFlight);
    },
    registers,
  });
  const counted = new Counter({
    name: 'gateway_inference_router_usage_counted_total',
    help: 'Generations whose usage was counted by the router, because the provider reported none or implausible usage.',
    labelNames: [...target, 'reason'],
    registers,
  });
  const excessTokens = new Counter({
    name: 'gateway_inference_router_usage_excess_tokens_total',
    help: 'Tokens in rejected usage reports above the counted tokens. They are not charged.',
    labelNames: [...target, 'kind'],
    registers,
  });
  const excessCost = new Counter({
    name: 'gateway_inference_router_usage_excess_usd_total',
    help: 'Cost of the excess tokens in rejected usage reports, in US dollars. It is not charged.',
    labelNames: [...target],
    registers,
  });
  const estimated = new Counter({
    name: 'gateway_inference_router_usage_estimated_total',
    help: 'Generations whose output was estimated as a lower bound, because the tokenizer had no capacity.',
    labelNames: [...target],
    registers,
  });
  const stored: Record<StoredIn, number> = { event_log: 0, ledger: 0, spool: 0, lost: 0 };
  new Counter({
    name: 'gateway_inference_router_finished_total',
    help: 'Finished generations by the store of their record; "lost" must stay at zero.',
    labelNames: ['stored_in'],
    collect() {
      this.reset();
      for (const [where, count] of Object.entries(stored)) this.inc({ stored_in: where }, count);
    },
    registers,
  });
  const replayed = new Counter({
    name: 'gateway_inference_router_spool_replayed_total',
    help: 'Spooled generations that were accepted by the event log or the ledger.',
    registers,
  });
  new Gauge({
    name: 'gateway_inference_router_spool_bytes',
    help: 'Bytes of finished generations in the spool.',
    registers,
    collect() {
      this.set(spool.bytes());
    },
  });

  new Gauge({
    name: 'gateway_inference_router_can_record',
    help: '1 while the spool could store another generation, else 0; the router then refuses requests.',
    registers,
    collect() {
      this.set(spool.hasSpace() ? 1 : 0);
    },
  });

  const labels = (of: Target) => ({ provider: of.provider.name, model: of.providerModel });
  // Bound once per target: a label lookup costs more than an increment.
  const byTarget = new WeakMap<Target, BoundInstruments>();
  const bound = (of: Target): BoundInstruments => {
    let instruments = byTarget.get(of);
    if (!instruments) {
      instruments = { firstEvent: firstEvent.labels(labels(of)), outcomes: new Map() };
      byTarget.set(of, instruments);
    }
    return instruments;
  };
  const callsOf = (of: Target, outcome: AttemptOutcome): Counter.Internal => {
    const { outcomes } = bound(of);
    let counter = outcomes.get(outcome);
    if (!counter) {
      counter = calls.labels({ ...labels(of), outcome });
      outcomes.set(outcome, counter);
    }
    return counter;
  };
  const sampler = createLogSampler(() => performance.now(), { everyMs: LOG_SAMPLE_INTERVAL_MS });
  return {
    onStored: (where) => void (stored[where] += 1),
    onReplayed: () => replayed.inc(),
    observer: {
      generationStarted: () => void (inFlight += 1),
      generationEnded: () => void (inFlight -= 1),
      attemptEnded(of, outcome, failure) {
        callsOf(of, outcome).inc();
        if (!failure) return;
        const line = { target: targetKey(of), outcome, reason: failure.message };
        if (!CONFIGURATION_FAILURES.has(outcome)) return log.debug(line, 'a call to a provider failed');
        const suppressed = sampler.sample(`rejected by ${line.target}`);
        if (suppressed !== undefined)
          log.error({ ...line, suppressed }, 'a provider rejects our key, model name or address');
      },
      retried: (of) => retries.inc(labels(of)),
      failedOver: (of) => failovers.inc(labels(of)),
      firstEventAfter: (of, ms) => bound(of).firstEvent.observe(ms / 1000),
      usageMissing: (of) => counted.inc({ ...labels(of), reason: 'missing' }),
      usageRejected(of, { promptTokens, completionTokens, costNanoUsd }) {
        counted.inc({ ...labels(of), reason: 'rejected' });
        excessTokens.inc({ ...labels(of), kind: 'prompt' }, promptTokens);
        excessTokens.inc({ ...labels(of), kind: 'completion' }, completionTokens);
        excessCost.inc(labels(of), usdNumber(costNanoUsd));
        const line = { target: targetKey(of), promptTokens, completionTokens };
        const suppressed = sampler.sample(`implausible usage from ${line.target}`);
        if (suppressed !== undefined) log.warn({ ...line, suppressed }, 'implausible usage was rejected');
      },
      usageEstimated: (of) => estimated.inc(labels(of)),
    },
  };
}

const STATE_VALUES = { closed: 0, half_open: 1, open: 2 } as const;

/** Metrics and log lines of the circuit breakers. */
export function createBreakerObserver(registry: Registry, log: Logger) {
  const labelNames = ['provider', 'model'] as const;
  const registers = [registry];
  const states = new Gauge({
    name: 'gateway_inference_router_breaker_state',
    help: 'State of the circuit that all organizations share, by target: 0 closed, 1 half open, 2 open.',
    labelNames,
    registers,
  });
  const organizations = new Gauge({
    name: 'gateway_inference_router_organization_breakers',
    help: 'Organizations whose own circuit is not closed, by target.',
    labelNames,
    registers,
  });
  return {
    stateChanged(target: Target, state: keyof typeof STATE_VALUES): void {
      states.set({ provider: target.provider.name, model: target.providerModel }, STATE_VALUES[state]);
      if (state !== 'half_open')
        log.warn({ target: targetKey(target), state }, 'a shared circuit changed its state');
    },
    organizationStateChanged(
      target: Target,
      organizationId: string,
      state: keyof typeof STATE_VALUES,
      notClosed: number,
    ): void {
      organizations.set({ provider: target.provider.name, model: target.providerModel }, notClosed);
      if (state === 'half_open') return;
      log.info(
        { target: targetKey(target), organizationId, state },
        "an organization's circuit changed its state",
      );
    },
  };
}

/** Metrics and log lines of credentials that are refreshed in the background. */
export function createCredentialObserver(registry: Registry, log: Logger) {
  const failures = new Counter({
    name: 'gateway_inference_router_credential_refresh_failures_total',
    help: 'Failed refreshes of a credential in the background; the current one is still valid.',
    labelNames: ['provider'],
    registers: [registry],
  });
  return {
    refreshFailed(provider: string, reason: string): void {
      failures.inc({ provider });
      log.error(
        { provider, reason },
        'the credential of a provider was not refreshed; it still works until it expires',
      );
    },
  };
}

/** The version that this router runs, of a catalogue in the database. */
export function createCatalogueMetrics(registry: Registry, catalogue: CatalogueSource): void {
  new Gauge({
    name: 'gateway_inference_router_catalogue_version',
    help: 'Published version of the catalogue that the router runs; 0 before the first. Only with GATEWAY_CATALOGUE=database.',
    collect() {
      this.set(catalogue.status().publishedVersion ?? 0);
    },
    registers: [registry],
  });
}
