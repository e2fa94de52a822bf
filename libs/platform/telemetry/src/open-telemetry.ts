import type { TelemetrySettings } from './environment';
import type { Telemetry } from './telemetry';
import { installTracing } from './tracing';

export interface TelemetryOptions {
  /** As everywhere: of the app, the module, the image. The default of OTEL_SERVICE_NAME. */
  readonly serviceName: string;
  readonly settings: TelemetrySettings;
}

const OFF: Telemetry = { reportTo: () => undefined, stop: async () => undefined };

/**
 * Turns tracing and the export of log lines on, if the settings name a collector.
 * Only then is anything of OpenTelemetry loaded. To be called before what is
 * traced is made, since pools and instruments look once whether it is on.
 */
export async function startTelemetry({ serviceName, settings }: TelemetryOptions): Promise<Telemetry> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: disabled } = settings;
  if (endpoint === undefined || disabled) return OFF;
  const { startOpenTelemetry } = await import('./opentelemetry/start');
  const { tracing, ...telemetry } = startOpenTelemetry({
    serviceName: settings.OTEL_SERVICE_NAME ?? serviceName,
    endpoint,
    settings,
  });
  installTracing(tracing);
  return {
    ...telemetry,
    stop: async () => {
      installTracing(undefined);
      await telemetry.stop();
    },
  };
}
