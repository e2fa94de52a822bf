export interface KafkaServer {
  /** `host:port`; several separated by commas if they are those of TEST_KAFKA_BROKERS. */
  readonly broker: string;
  /** Stops responding without closing connections. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Simulates a crash; written records are kept. */
  kill(): Promise<void>;
  /** Restarts it on the same port with its written records. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface KafkaServerOptions {
  /** As in server.properties. A value may contain line breaks, such as PEM. */
  readonly settings?: Readonly<Record<string, string>>;
}
