import type { EventSubscriber } from '@gateway/events';
import type { Logger } from '@gateway/runtime';
import type { GatewayModule } from './gateway-module';

/** What a process has started, to be stopped in reverse. */
export interface Lifecycle {
  /** Remembers how to stop what was just started. */
  onStop(stop: () => Promise<void>): void;
  /** Starts modules in the given order: those that others stand on come first. */
  startModules(modules: readonly GatewayModule[]): Promise<void>;
  /** Lets every consumer group of the modules read from the log. */
  subscribe(modules: readonly GatewayModule[], subscriber: EventSubscriber): Promise<void>;
  /** Stops everything, latest first, whatever fails on the way; works after half a start, too. */
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
        // Before it starts: a module that fails half-way releases what it has as well.
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
        await next().catch((error: unknown) => log.error({ err: error }, 'something did not stop cleanly'));
      }
    },
  };
}
