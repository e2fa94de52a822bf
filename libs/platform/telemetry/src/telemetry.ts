/** For failures of the exporters. Compatible with a pino logger. */
export interface TelemetryLog {
  warn(fields: object, message: string): void;
}

export interface Telemetry {
  /** Receives every formatted log line as JSON; absent if log lines are not exported. */
  readonly onLogLine?: ((line: string) => void) | undefined;
  /** Sets the log for export failures. */
  reportTo(log: TelemetryLog): void;
  /** Flushes for a few seconds at most, and turns tracing off. */
  stop(): Promise<void>;
}
