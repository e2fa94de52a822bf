import { installTracing, type Span, type Tracing } from '@gateway/telemetry';
import { Counter, Gauge } from 'prom-client';
import { createLatencyHistogram, createMetrics, renderMetrics } from './metrics';

const OPEN = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
const TRACE_ID = 'a'.repeat(32);
let span: Pick<Span, 'traceId' | 'isSampled'> | undefined;

beforeEach(() => {
  span = { traceId: TRACE_ID, isSampled: true };
  installTracing({ current: () => span as Span | undefined } as Tracing);
});
afterEach(() => installTracing(undefined));

function someMetrics() {
  const metrics = createMetrics({ labels: { process: 'test' } });
  const registers = [metrics];
  new Counter({ name: 'gateway_things_total', help: 'things', labelNames: ['kind'], registers }).inc(
    { kind: 'a' },
    3,
  );
  new Gauge({ name: 'gateway_open', help: 'open', registers }).set(2);
  const latency = createLatencyHistogram({
    name: 'gateway_wait_seconds',
    help: 'wait',
    labelNames: ['route'],
    buckets: [0.1, 1],
    registers,
  }).labels({ route: 'chat' });
  return { metrics, latency };
}

it('renders the same samples as OpenMetrics and as Prometheus text, repeatedly', async () => {
  const { metrics } = someMetrics();
  const samples = (text: string) =>
    text.split('\n').filter((line) => line.startsWith('gateway_things') || line.startsWith('gateway_open'));
  const expected = ['gateway_things_total{kind="a",process="test"} 3', 'gateway_open{process="test"} 2'];
  for (const accept of [undefined, OPEN, 'text/plain', OPEN, undefined]) {
    const { contentType, text } = await renderMetrics(metrics, accept);
    expect(samples(text)).toEqual(expected);
    expect(contentType).toMatch(accept === OPEN ? /^application\/openmetrics-text/ : /^text\/plain/);
    expect(text.endsWith('# EOF\n')).toBe(accept === OPEN);
    expect(text).toContain(
      accept === OPEN ? '# TYPE gateway_things counter' : '# TYPE gateway_things_total counter',
    );
  }
});

it('has an exemplar with the trace of a sampled request, and none for others', async () => {
  const { metrics, latency } = someMetrics();
  latency.observe(0.05);
  span = { traceId: 'b'.repeat(32), isSampled: false };
  latency.observe(0.5);
  latency.observe(5, { traceId: 'c'.repeat(32), isSampled: true });
  const { text } = await renderMetrics(metrics, OPEN);
  const bucket = (le: string) =>
    text
      .split('\n')
      .find((line) => line.startsWith('gateway_wait_seconds_bucket') && line.includes(`le="${le}"`));
  expect(bucket('0.1')).toMatch(new RegExp(`\\} 1 # \\{trace_id="${TRACE_ID}"\\} 0\\.05 [\\d.]+$`));
  expect(bucket('1')).toMatch(/\} 2$/);
  expect(bucket('+Inf')).toContain(`# {trace_id="${'c'.repeat(32)}"} 5`);
  expect((await renderMetrics(metrics, undefined)).text).not.toContain('trace_id');
});

it('has no exemplars while tracing is off', async () => {
  installTracing(undefined);
  const { metrics, latency } = someMetrics();
  latency.observe(0.05, { traceId: TRACE_ID, isSampled: true });
  const { text } = await renderMetrics(metrics, OPEN);
  expect(text).toMatch(/gateway_wait_seconds_bucket\{.*le="0\.1".*\} 1\n/);
  expect(text).not.toContain('trace_id');
});
