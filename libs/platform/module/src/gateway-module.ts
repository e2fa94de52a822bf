import type { Incident } from '@gateway/base';
import type { EventHandler } from '@gateway/events';
import type { BoundService } from '@gateway/rpc';

/** A consumer group of a module: its topic and the handler of its batches. */
export interface ModuleConsumer {
  readonly topic: string;
  /** Such as "billing-ledger". */
  readonly group: string;
  readonly handle: EventHandler;
}

/**
 * One domain, which can run in a process of its own or with others. It calls
 * other modules only through generated clients, so only the wiring knows where
 * they run.
 */
export interface GatewayModule {
  /** Such as "billing-ledger". */
  readonly name: string;
  readonly services: readonly BoundService[];
  readonly consumers: readonly ModuleConsumer[];
  /** Starts timers and watches. Called once, after the database is migrated. */
  start(): Promise<void>;
  /** Whether the module can serve requests. Absent: always. */
  isReady?(): boolean | Promise<boolean>;
  /** The current incidents that operators are notified of. May reject, for example without its database. */
  incidents?(): readonly Incident[] | Promise<readonly Incident[]>;
  /** Finishes running work and releases all resources. Idempotent. */
  stop(): Promise<void>;
}
