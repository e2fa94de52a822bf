import { diag, DiagLogLevel } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TelemetrySettings } from '../environment';
import type { Telemetry, TelemetryLog } from '../telemetry';
import type { Tracing } from '../tracing';
import { createLogExport } from './log-lines';
import { samplerOf } from './sampler';
import { createTracing } from './tracing';

export interface StartOptions {
  readonly serviceName: string;
  readonly endpoint: string;
  readonly settings: TelemetrySettings;
}

/** For what is left when the process ends; a collector that is away must not hold it up. */
const FLUSH_MS = 3_000;
/** A collector that is away is worth a line now and then, not one for each batch. */
const COMPLAIN_EVERY_MS = 60_000;

export function startOpenTelemetry({
  serviceName,
  endpoint,
  settings,
}: StartOptions): Telemetry & { readonly tracing: Tracing | undefined } {
  const headers = settings.OTEL_EXPORTER_OTLP_HEADERS ?? {};
  const url = (signal: string): string => `${endpoint.replace(/\/+$/, '')}/v1/${signal}`;
  const resource = resourceFromAttributes({
    ...settings.OTEL_RESOURCE_ATTRIBUTES,
    'service.name': serviceName,
  });

  const traces =
    settings.OTEL_TRACES_EXPORTER === 'none'
      ? undefined
      : new TracerProvider({
          resource,
          sampler: samplerOf(settings.OTEL_TRACES_SAMPLER, settings.OTEL_TRACES_SAMPLER_ARG),
          spanProcessors: [
            new BatchSpanProcessor({
              exporter: new OTLPTraceExporter({ url: url('traces'), headers }),
              scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
            }),
          ],
        });
  const logs =
    settings.OTEL_LOGS_EXPORTER === 'none'
      ? undefined
      : new LoggerProvider({
          resource,
          processors: [
            new BatchLogRecordProcessor({
              exporter: new OTLPLogExporter({ url: url('logs'), headers }),
              scheduledDelayMillis: settings.OTEL_BLRP_SCHEDULE_DELAY,
            }),
          ],
        });

  return {
    tracing: traces && createTracing(traces.getTracer('inference-gateway')),
    ...(logs && { onLogLine: createLogExport(logs.getLogger('inference-gateway')) }),
    reportTo: (log) => complainTo(log),
    stop: async () => {
      await Promise.race([
        Promise.allSettled([traces?.shutdown(), logs?.shutdown()]),
        new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref()),
      ]);
      diag.disable();
    },
  };
}

function complainTo(log: TelemetryLog): void {
  let complainedAtMs = -Infinity;
  const complain = (message: string): void => {
    if (performance.now() - complainedAtMs < COMPLAIN_EVERY_MS) return;
    complainedAtMs = performance.now();
    log.warn({ reason: message.slice(0, 500) }, 'traces or log lines do not reach the collector');
  };
  const silent = (): void => undefined;
  const logger = { error: complain, warn: complain, info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
