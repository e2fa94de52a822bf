import type { EventHandler } from '@gateway/events';
import type { BoundService } from '@gateway/rpc';

/** A consumer group of a module: which topic it reads and what it does with each batch. */
export interface ModuleConsumer {
  readonly topic: string;
  /** Such as "billing-ledger". */
  readonly group: string;
  readonly handle: EventHandler;
}

/**
 * One domain, ready to be run alone in a process or beside others. It reaches
 * other modules only through their generated clients, so where they run is the
 * wiring's business alone.
 */
export interface GatewayModule {
  /** Such as "billing-ledger". */
  readonly name: string;
  readonly services: readonly BoundService[];
  readonly consumers: readonly ModuleConsumer[];
  /** Starts timers and watches. Called once, after the database is migrated. */
  start(): Promise<void>;
  /** Whether it should be sent requests now; it should when absent. */
  isReady?(): boolean | Promise<boolean>;
  /** Finishes what runs and releases everything. Safe to call twice. */
  stop(): Promise<void>;
}
