import type { RpcCallEnd } from '@gateway/rpc';
import { createLatencyHistogram, type BoundLatency } from '@gateway/runtime';
import { Counter, type Registry } from 'prom-client';

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30, 120, 600];

/** Records counts and durations of the calls that a service serves. */
export function createRpcMetrics(registry: Registry): (end: RpcCallEnd) => void {
  const registers = [registry];
  const calls = new Counter({
    name: 'gateway_rpc_calls_total',
    help: 'RPCs served, by method and outcome ("ok", "cancelled" by the caller or its deadline, or an error code).',
    labelNames: ['rpc', 'outcome'] as const,
    registers,
  });
  const durations = createLatencyHistogram({
    name: 'gateway_rpc_call_duration_seconds',
    help: 'Duration of RPCs served, by method.',
    labelNames: ['rpc'],
    buckets: BUCKETS_S,
    registers,
  });
  // At most one entry per method, and per outcome of the closed error table.
  const boundCalls = new Map<string, Counter.Internal>();
  const boundDurations = new Map<string, BoundLatency>();

  return ({ rpc, outcome, durationMs, trace }) => {
    const name = `${rpc} ${outcome}`;
    let counter = boundCalls.get(name);
    if (!counter) boundCalls.set(name, (counter = calls.labels({ rpc, outcome })));
    counter.inc();
    let histogram = boundDurations.get(rpc);
    if (!histogram) boundDurations.set(rpc, (histogram = durations.labels({ rpc })));
    histogram.observe(durationMs / 1_000, trace);
  };
}
