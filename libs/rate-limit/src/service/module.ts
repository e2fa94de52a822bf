import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { bindService } from '@gateway/rpc';
import { type GatewayModule } from '@gateway/module';
import type { Registry } from '@gateway/runtime';
import type { LimitStore } from '../core';
import { fromDecision, toAdmission, toFinished, toRef } from './messages';
import { createRateLimitMetrics } from './metrics';

export interface RateLimitPorts {
  readonly store: LimitStore;
  readonly metrics: Registry;
}

/** Items in one call. A caller batches what arrived while its last call was under way, which is far less. */
const MAX_ITEMS_PER_CALL = 10_000;

export function createRateLimitModule({ store, metrics }: RateLimitPorts): GatewayModule {
  const counted = createRateLimitMetrics(metrics);

  // Every item is read before the store sees any, so that a malformed one leaves no half of a call behind.
  const service = bindService(RateLimitDefinition, {
    admit: async ({ admissions }) => {
      const decisions = await store.admit(readAll(admissions, toAdmission));
      decisions.forEach(counted.decided);
      return { results: decisions.map(fromDecision) };
    },
    finish: async ({ admissions }) => {
      await store.finish(readAll(admissions, toFinished));
      return {};
    },
    renewSlots: async ({ slots }) => {
      await store.renewSlots(readAll(slots, toRef));
      return {};
    },
  });

  return {
    name: 'rate-limit',
    services: [service],
    consumers: [],
    start: async () => undefined,
    stop: async () => undefined,
  };
}

function readAll<Message, Item>(messages: readonly Message[], read: (message: Message) => Item): Item[] {
  if (messages.length > MAX_ITEMS_PER_CALL) throw new Error(`${messages.length} items in one call`);
  return messages.map(read);
}
