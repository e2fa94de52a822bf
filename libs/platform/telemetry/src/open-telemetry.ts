import type { TelemetrySettings } from './environment';
import type { Telemetry } from './telemetry';
import { installTracing } from './tracing';

export interface TelemetryOptions {
  /** The name of the app, module and image. The default of OTEL_SERVICE_NAME. */
  readonly serviceName: string;
  readonly settings: TelemetrySettings;
}

const OFF: Telemetry = { reportTo: () => undefined, stop: async () => undefined };

/**
 * Enables tracing and log export if the settings name a collector. Only then is
 * OpenTelemetry loaded. Call it first: pools and instruments check only at
 * creation whether tracing is on.
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
