import { collectDefaultMetrics, Registry } from 'prom-client';

export { Registry } from 'prom-client';

export interface CreateMetricsOptions {
  /** Put on every sample, such as `{ process: 'edge-proxy' }`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Also CPU, memory, event loop and garbage collection of this process; true when absent. */
  readonly processMetrics?: boolean;
}

/**
 * The registry of one process. Each module creates its own instruments in it,
 * named `gateway_<domain>_…`, and binds their labels once, at its start.
 */
export function createMetrics({ labels = {}, processMetrics = true }: CreateMetricsOptions = {}): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ ...labels });
  if (processMetrics) collectDefaultMetrics({ register: registry });
  return registry;
}
