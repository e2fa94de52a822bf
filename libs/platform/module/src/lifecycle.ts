import type { EventSubscriber } from '@gateway/events';
import type { Logger } from '@gateway/runtime';
import type { GatewayModule } from './gateway-module';

/** Starts the components of a process and stops them in reverse order. */
export interface Lifecycle {
  /** Registers how to stop a component that was just started. */
  onStop(stop: () => Promise<void>): void;
  /** Starts modules in the given order: dependencies first. */
  startModules(modules: readonly GatewayModule[]): Promise<void>;
  /** Subscribes every consumer group of the modules to the event log. */
  subscribe(modules: readonly GatewayModule[], subscriber: EventSubscriber): Promise<void>;
  /** Stops everything in reverse order, even if some of it fails or the start was incomplete. */
  stop(): Promise<void>;
}

export function createLifecycle({ log }: { readonly log: Logger }): Lifecycle {
  const stops: (() => Promise<void>)[] = [];

  return {
    onStop(stop) {
      stops.push(stop);
    },
    async startModules(modules) {
      for (const module of modules) {
        // Registered before the start, so that a module that fails to start releases its resources.
        stops.push(() => module.stop());
        await module.start();
      }
    },
    async subscribe(modules, subscriber) {
      for (const { consumers } of modules) {
        for (const consumer of consumers) await subscriber.subscribe(consumer);
      }
    },
    async stop() {
      for (let next = stops.pop(); next; next = stops.pop()) {
        await next().catch((error: unknown) => log.error({ err: error }, 'a component did not stop cleanly'));
      }
    },
  };
}
