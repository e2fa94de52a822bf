import { z } from 'zod';
import { telemetryEnvironment, type TelemetrySettings } from './environment';
import { startTelemetry } from './open-telemetry';
import { tracing } from './tracing';
import { traced } from './traced';

const loaded = jest.fn();
jest.mock('./opentelemetry/start', () => {
  loaded();
  return jest.requireActual<object>('./opentelemetry/start');
});

const read = (environment: Readonly<Record<string, string | undefined>>) =>
  z.object(telemetryEnvironment).safeParse(environment);
const settings = (environment: Readonly<Record<string, string | undefined>>): TelemetrySettings => {
  const { data, error } = read(environment);
  if (error) throw error;
  return data;
};

it('loads nothing of OpenTelemetry, and traces nothing, unless a collector is configured', async () => {
  for (const environment of [
    {},
    { OTEL_TRACES_SAMPLER: 'always_on' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' },
  ]) {
    const telemetry = await startTelemetry({ serviceName: 'test', settings: settings(environment) });
    expect([loaded.mock.calls.length, tracing(), telemetry.onLogLine]).toEqual([0, undefined, undefined]);
    expect(await traced('work', { kind: 'internal' }, async () => 'done')).toBe('done');
    await telemetry.stop();
  }
});

it('runs and stops while the collector is unavailable', async () => {
  const telemetry = await startTelemetry({
    serviceName: 'test',
    settings: settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
  });
  const tracer = tracing();
  expect(loaded).toHaveBeenCalledTimes(1);
  const span = tracer?.start('a request', { kind: 'server', parent: 'none' });
  expect(tracer?.run(span, () => tracer.current()?.traceId)).toBe(span?.traceId);
  span?.end('no_capacity');
  await telemetry.stop();
  expect(tracing()).toBeUndefined();
});

it('parses headers in the format of the specification', () => {
  const { OTEL_EXPORTER_OTLP_HEADERS: headers } = settings({
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc==, x-scope = team%2Fa',
  });
  expect(headers).toEqual({ authorization: 'Basic abc==', 'x-scope': 'team/a' });
});

it.each(['hidden-value', '=hidden-value', 'name=%hidden-value'])(
  'rejects headers "%s" without including their text',
  (text) => {
    const { error } = read({ OTEL_EXPORTER_OTLP_HEADERS: text });
    expect(error?.issues).toHaveLength(1);
    expect(JSON.stringify(error?.issues)).not.toContain('hidden-value');
  },
);
