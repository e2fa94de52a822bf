import { Counter, Gauge, Histogram } from 'prom-client';
import { mergeMetrics } from './merge-metrics';
import { createMetrics } from './metrics';
import { renderMetrics } from './render-metrics';

const OPEN = 'application/openmetrics-text;version=1.0.0';

function metricsOf(worker: string, { withHistogram = false } = {}) {
  const metrics = createMetrics({ labels: { process: 'test', worker }, processMetrics: false });
  const registers = [metrics];
  const help = 'two\nlines of help';
  new Gauge({ name: 'gateway_open', help, registers }).set(Number(worker));
  new Counter({ name: 'gateway_things_total', help, labelNames: ['kind'], registers }).inc({
    kind: '# EOF\n',
  });
  if (withHistogram) {
    new Histogram({ name: 'gateway_wait_seconds', help, buckets: [1], registers }).observe(0.5);
  }
  return metrics;
}

const rendered = async (accept?: string) => {
  const registries = [metricsOf('1'), metricsOf('2', { withHistogram: true })];
  const told = await Promise.all(registries.map((metrics) => renderMetrics(metrics, accept)));
  return told.map(({ text }) => text);
};

it('puts the samples of all processes together, each metric described once', async () => {
  expect(mergeMetrics(await rendered()).split('\n')).toEqual([
    '# HELP gateway_open two\\nlines of help',
    '# TYPE gateway_open gauge',
    'gateway_open{process="test",worker="1"} 1',
    'gateway_open{process="test",worker="2"} 2',
    '# HELP gateway_things_total two\\nlines of help',
    '# TYPE gateway_things_total counter',
    'gateway_things_total{kind="# EOF\\n",process="test",worker="1"} 1',
    'gateway_things_total{kind="# EOF\\n",process="test",worker="2"} 1',
    '# HELP gateway_wait_seconds two\\nlines of help',
    '# TYPE gateway_wait_seconds histogram',
    'gateway_wait_seconds_bucket{le="1",process="test",worker="2"} 1',
    'gateway_wait_seconds_bucket{le="+Inf",process="test",worker="2"} 1',
    'gateway_wait_seconds_sum{process="test",worker="2"} 0.5',
    'gateway_wait_seconds_count{process="test",worker="2"} 1',
    '',
  ]);
});

it('ends OpenMetrics once, behind all of them', async () => {
  const text = mergeMetrics(await rendered(OPEN));
  expect(text.match(/^# EOF$/gm)).toHaveLength(1);
  expect(text.endsWith('\n# EOF\n')).toBe(true);
  expect(text.match(/^# TYPE gateway_things counter$/gm)).toHaveLength(1);
});

it('leaves the text of one process as it is, but for empty lines', async () => {
  for (const accept of [undefined, OPEN]) {
    const [, text = ''] = await rendered(accept);
    expect(mergeMetrics([text])).toBe(text.replace(/\n+/g, '\n'));
  }
});
