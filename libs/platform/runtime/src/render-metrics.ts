import { Registry } from 'prom-client';

export interface RenderedMetrics {
  readonly contentType: string;
  readonly text: string;
}

/** As Prometheus text, or, for those who ask for it, as OpenMetrics, which has exemplars. */
export async function renderMetrics(metrics: Registry, accept: string | undefined): Promise<RenderedMetrics> {
  if (!/\bapplication\/openmetrics-text\b/.test(accept ?? '')) {
    return { contentType: metrics.contentType, text: await metrics.metrics() };
  }
  const text = await openMetricsOf(metrics).metrics();
  return { contentType: Registry.OPENMETRICS_CONTENT_TYPE, text };
}

/**
 * prom-client renders a registry in one format only, and as OpenMetrics it renames
 * the counters themselves: so it gets others that inherit all from them but a name
 * of their own.
 */
function openMetricsOf(metrics: Registry): Registry {
  const view = new Registry();
  view.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  const { _defaultLabels: labels } = metrics as unknown as { readonly _defaultLabels: object };
  view.setDefaultLabels(labels);
  for (const metric of metrics.getMetricsAsArray()) {
    const named = Object.create(metric, { name: { value: nameOf(metric), writable: true } }) as typeof metric;
    view.registerMetric(named as never);
  }
  return view;
}

function nameOf(metric: object): string {
  return (metric as { readonly name: string }).name;
}
