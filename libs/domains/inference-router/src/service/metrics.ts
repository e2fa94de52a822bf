import { createLogSampler, usdNumber } from '@gateway/base';
import { type BoundLatency, createLatencyHistogram, type Logger, type Registry } from '@gateway/runtime';
import { Counter, Gauge } from 'prom-client';
import { targetKey, type Target } from '../core/catalogue/model-catalogue';
import type { AttemptOutcome } from '../core/generation/attempt-outcome';
import type { RouterObserver } from '../core/ports';
import type { FinishedSpool } from '../core/ports';
import type { KeptIn } from './generation-recorder';

const FIRST_EVENT_BUCKETS_S = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Failures that somebody has to act on, and not only to count. */
const OUR_FAULT = new Set(['misconfigured']);

/** What every request of a target would say: a line per target and this long, with the number of those untold. */
const ALIKE_EVERY_MS = 5_000;

export interface RouterMetrics {
  readonly observer: RouterObserver;
  onKept(where: KeptIn): void;
  onReplayed(): void;
}

interface BoundInstruments {
  readonly firstEvent: BoundLatency;
  readonly outcomes: Map<AttemptOutcome, Counter.Internal>;
}

/** The router's instruments in a registry, and the log lines that go with them. */
export function createRouterMetrics(registry: Registry, spool: FinishedSpool, log: Logger): RouterMetrics {
  const registers = [registry];
  const target = ['provider', 'model'] as const;
  const calls = new Counter({
    name: 'gateway_inference_router_calls_total',
    help: 'Calls to providers by how they ended.',
    labelNames: [...target, 'outcome'] as const,
    registers,
  });
  const retries = new Counter({
    name: 'gateway_inference_router_retries_total',
    help: 'Further calls to a target that failed before its first event.',
    labelNames: [...target],
    registers,
  });
  const failovers = new Counter({
    name: 'gateway_inference_router_failovers_total',
    help: 'Generations that went on to this target.',
    labelNames: [...target],
    registers,
  });
  const firstEvent = createLatencyHistogram({
    name: 'gateway_inference_router_first_event_seconds',
    help: 'From sending a request to its first event, or to its whole answer when not streamed.',
    labelNames: [...target],
    buckets: FIRST_EVENT_BUCKETS_S,
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: 'gateway_inference_router_in_flight',
    help: 'Generations under way.',
    collect() {
      this.set(inFlight);
    },
    registers,
  });
  const counted = new Counter({
    name: 'gateway_inference_router_usage_counted_total',
    help: 'Generations whose usage the provider did not report believably, so that it was counted here.',
    labelNames: [...target, 'reason'],
    registers,
  });
  const excessTokens = new Counter({
    name: 'gateway_inference_router_usage_excess_tokens_total',
    help: 'Tokens that providers reported beyond what was believed, and that nobody was charged for.',
    labelNames: [...target, 'kind'],
    registers,
  });
  const excessCost = new Counter({
    name: 'gateway_inference_router_usage_excess_usd_total',
    help: 'What those tokens would have cost, in US dollars.',
    labelNames: [...target],
    registers,
  });
  const estimated = new Counter({
    name: 'gateway_inference_router_usage_estimated_total',
    help: 'Generations whose output was estimated from below, since the tokenizer had no room to count it.',
    labelNames: [...target],
    registers,
  });
  const kept: Record<KeptIn, number> = { event_log: 0, ledger: 0, spool: 0, lost: 0 };
  new Counter({
    name: 'gateway_inference_router_finished_total',
    help: 'Finished generations by where their end was made durable; "lost" must stay at zero.',
    labelNames: ['stored_in'],
    collect() {
      this.reset();
      for (const [where, count] of Object.entries(kept)) this.inc({ stored_in: where }, count);
    },
    registers,
  });
  const replayed = new Counter({
    name: 'gateway_inference_router_spool_replayed_total',
    help: 'Spooled generations that found their way.',
    registers,
  });
  new Gauge({
    name: 'gateway_inference_router_spool_bytes',
    help: 'Finished generations on disk that nobody has taken yet.',
    registers,
    collect() {
      this.set(spool.bytes());
    },
  });

  const labels = (of: Target) => ({ provider: of.provider.name, model: of.providerModel });
  // Bound once per target: looking labels up costs more than counting.
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
  const sampler = createLogSampler(() => performance.now(), { everyMs: ALIKE_EVERY_MS });
  return {
    onKept: (where) => void (kept[where] += 1),
    onReplayed: () => replayed.inc(),
    observer: {
      generationStarted: () => void (inFlight += 1),
      generationEnded: () => void (inFlight -= 1),
      attemptEnded(of, outcome, failure) {
        callsOf(of, outcome).inc();
        if (!failure) return;
        const line = { target: targetKey(of), outcome, reason: failure.message };
        if (!OUR_FAULT.has(outcome)) return log.debug(line, 'a call to a provider failed');
        const untold = sampler.sample(`refused by ${line.target}`);
        if (untold !== undefined) log.error({ ...line, untold }, 'a provider refuses our configuration');
      },
      retried: (of) => retries.inc(labels(of)),
      failedOver: (of) => failovers.inc(labels(of)),
      firstEventAfter: (of, ms) => bound(of).firstEvent.observe(ms / 1000),
      usageMissing: (of) => counted.inc({ ...labels(of), reason: 'missing' }),
      usageNotBelieved(of, { promptTokens, completionTokens, cost }) {
        counted.inc({ ...labels(of), reason: 'rejected' });
        excessTokens.inc({ ...labels(of), kind: 'prompt' }, promptTokens);
        excessTokens.inc({ ...labels(of), kind: 'completion' }, completionTokens);
        excessCost.inc(labels(of), usdNumber(cost));
        const line = { target: targetKey(of), promptTokens, completionTokens };
        const untold = sampler.sample(`not believed of ${line.target}`);
        if (untold !== undefined) log.warn({ ...line, untold }, 'a usage block is not believed');
      },
      usageEstimated: (of) => estimated.inc(labels(of)),
    },
  };
}

const STATE_VALUES = { closed: 0, half_open: 1, open: 2 } as const;

/** Instruments and log lines of the circuit breakers. */
export function createBreakerObserver(registry: Registry, log: Logger) {
  const labelNames = ['provider', 'model'] as const;
  const registers = [registry];
  const states = new Gauge({
    name: 'gateway_inference_router_breaker_state',
    help: 'Circuit of a target for all organizations: 0 closed, 1 half open, 2 open.',
    labelNames,
    registers,
  });
  const organizations = new Gauge({
    name: 'gateway_inference_router_organization_breakers',
    help: 'Organizations whose own failures keep a target from them, by target.',
    labelNames,
    registers,
  });
  return {
    stateChanged(target: Target, state: keyof typeof STATE_VALUES): void {
      states.set({ provider: target.provider.name, model: target.providerModel }, STATE_VALUES[state]);
      if (state !== 'half_open') log.warn({ target: targetKey(target), state }, 'a circuit changed for all');
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
        'a circuit changed for one organization',
      );
    },
  };
}
