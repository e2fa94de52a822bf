/** Where the exporters say that they cannot deliver. A pino logger fits. */
export interface TelemetryLog {
  warn(fields: object, message: string): void;
}

export interface Telemetry {
  /** Given every finished line of the log, as JSON; absent while lines are not exported. */
  readonly onLogLine?: ((line: string) => void) | undefined;
  /** Where to complain, once there is a log. */
  reportTo(log: TelemetryLog): void;
  /** Sends what is left, for a few seconds at most, and turns tracing off. */
  stop(): Promise<void>;
}
