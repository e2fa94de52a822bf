import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of keys, watches and revocation, with their labels bound once. */
export function createAuthMetrics(metrics: Registry) {
  const verified = new Counter({
    name: 'gateway_auth_key_lookups_total',
    help: 'Key lookups by edges, by whether the key exists.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  return {
    verifiedGrant: verified.labels('found'),
    verifiedUnknown: verified.labels('not_found'),
    watches: new Gauge({
      name: 'gateway_auth_open_watches',
      help: 'Edges that are watching invalidations at this replica.',
      registers: [metrics],
    }),
    edgeWaitSeconds: new Histogram({
      name: 'gateway_auth_invalidation_delay_seconds',
      help: 'Duration of changes that edges must apply, from the call until no edge could act on the previous state.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [metrics],
    }),
  };
}

export type AuthMetrics = ReturnType<typeof createAuthMetrics>;

/** Measures how long a change waits for edges. */
export async function timeEdgeWait<Result>(
  { edgeWaitSeconds }: Pick<AuthMetrics, 'edgeWaitSeconds'>,
  work: Promise<Result>,
): Promise<Result> {
  const end = edgeWaitSeconds.startTimer();
  try {
    return await work;
  } finally {
    end();
  }
}
