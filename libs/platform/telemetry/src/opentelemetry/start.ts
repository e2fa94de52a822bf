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

/** Time to flush when the process ends; an unavailable collector must not delay it further. */
const FLUSH_MS = 3_000;
/** Minimum interval between log lines about an unavailable collector. */
const WARN_INTERVAL_MS = 60_000;

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
    reportTo: (log) => logExportFailures(log),
    stop: async () => {
      await Promise.race([
        Promise.allSettled([traces?.shutdown(), logs?.shutdown()]),
        new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref()),
      ]);
      diag.disable();
    },
  };
}

function logExportFailures(log: TelemetryLog): void {
  let warnedAtMs = -Infinity;
  const warn = (message: string): void => {
    if (performance.now() - warnedAtMs < WARN_INTERVAL_MS) return;
    warnedAtMs = performance.now();
    log.warn({ reason: message.slice(0, 500) }, 'cannot export traces or log lines to the collector');
  };
  const silent = (): void => undefined;
  const logger = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
