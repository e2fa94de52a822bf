import type { Usage } from '@gateway/contracts/common';
import { type BoundLatency, createLatencyHistogram } from '@gateway/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AbuseLimitKind } from './abuse-limit/abuse-limiter';
import type { Exchange, RouteName } from './http/exchange';

/** The edge's metrics. Every label set is bound once and cached. */
export interface EdgeMetrics {
  requestOpened(): void;
  /** @param status 499 when the client disconnected before the response was complete. */
  requestClosed(exchange: Exchange, status: number, durationMs: number): void;
  /** @param durationMs from the end of a chat completion's body to the call of the router, without waits for credit. */
  admitted(durationMs: number): void;
  streamOpened(): void;
  streamClosed(): void;
  tokensUsed(usage: Usage): void;
  abuseLimited(kind: AbuseLimitKind): void;
  overloadRefused(): void;
  refusalsDropped(requests: number): void;
}

export interface EdgeMetricsSources {
  /** Chat completions that have not started; read when metrics are scraped. */
  readonly queued: () => number;
}

const ADMISSION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const DURATION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600];

export function createEdgeMetrics(registry: Registry, { queued }: EdgeMetricsSources): EdgeMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'gateway_edge_proxy_requests_total',
    help: 'Finished requests, by route, HTTP status and error code ("ok" without an error).',
    labelNames: ['route', 'status', 'code'] as const,
    registers,
  });
  const durations = createLatencyHistogram({
    name: 'gateway_edge_proxy_request_duration_seconds',
    help: 'From the headers of a request to the end of its response, by route.',
    labelNames: ['route'],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const admissions = createLatencyHistogram({
    name: 'gateway_edge_proxy_admission_seconds',
    help: 'From the end of the body of a chat completion to the call of the router: validation, limits and the hold.',
    buckets: ADMISSION_BUCKETS_S,
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: 'gateway_edge_proxy_requests_in_flight',
    help: 'Requests in flight.',
    collect() {
      this.set(inFlight);
    },
    registers,
  });
  let streams = 0;
  new Gauge({
    name: 'gateway_edge_proxy_streams_open',
    help: 'Open event streams.',
    collect() {
      this.set(streams);
    },
    registers,
  });
  const tokens = new Counter({
    name: 'gateway_edge_proxy_tokens_total',
    help: 'Tokens of finished generations, by kind.',
    labelNames: ['kind'] as const,
    registers,
  });

  const abuseLimited = new Counter({
    name: 'gateway_edge_proxy_abuse_limited_total',
    help: 'Requests refused by an abuse limit: too many failed authentications of the address, or too many invalid requests of the key, by kind.',
    labelNames: ['kind'],
    registers,
  });
  new Gauge({
    name: 'gateway_edge_proxy_requests_queued',
    help: 'Chat completions queued until they can start.',
    collect() {
      this.set(queued());
    },
    registers,
  });
  const overload = new Counter({
    name: 'gateway_edge_proxy_overload_refused_total',
    help: 'Chat completions refused because too many were queued, or the oldest had waited too long.',
    registers,
  });

  const refusalsDropped = new Counter({
    name: 'gateway_edge_proxy_refusals_dropped_total',
    help: 'Refused requests that are missing from usage, because too many different ones were refused at once, or their report was rejected.',
    registers,
  });

  // At most one entry per route, status and code of the closed error table.
  const boundRequests = new Map<string, Counter.Internal>();
  const boundDurations = new Map<RouteName, BoundLatency>();
  const admission = admissions.labels({});
  const promptTokens = tokens.labels({ kind: 'prompt' });
  const completionTokens = tokens.labels({ kind: 'completion' });
  const abuseLimitedByKind = { address: abuseLimited.labels('address'), key: abuseLimited.labels('key') };

  return {
    requestOpened: () => void (inFlight += 1),
    requestClosed: ({ route, report: { error }, span }, status, durationMs) => {
      const errorCode = error?.code ?? 'ok';
      inFlight -= 1;
      const name = `${route} ${status} ${errorCode}`;
      let counter = boundRequests.get(name);
      if (!counter)
        boundRequests.set(
          name,
          (counter = requests.labels({ route, status: String(status), code: errorCode })),
        );
      counter.inc();
      let histogram = boundDurations.get(route);
      if (!histogram) boundDurations.set(route, (histogram = durations.labels({ route })));
      histogram.observe(durationMs / 1000, span);
    },
    admitted: (durationMs) => admission.observe(durationMs / 1000),
    streamOpened: () => void (streams += 1),
    streamClosed: () => void (streams -= 1),
    tokensUsed: (usage) => {
      promptTokens.inc(usage.promptTokens);
      completionTokens.inc(usage.completionTokens);
    },
    abuseLimited: (kind) => abuseLimitedByKind[kind].inc(),
    overloadRefused: () => overload.inc(),
    refusalsDropped: (count) => refusalsDropped.inc(count),
  };
}
