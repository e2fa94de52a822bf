export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Sends a command. @returns what `redis-cli` prints @throws Error for an error reply */
  command(...args: readonly string[]): Promise<string>;
  /** Stops responding without closing connections. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Simulates a crash: its data is lost. */
  kill(): Promise<void>;
  /** Restarts it on the same port, empty. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  readonly port?: number;
  /** As in redis.conf, such as `{ 'maxmemory': '100mb' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}
