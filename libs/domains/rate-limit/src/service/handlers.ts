import type { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import type { RpcHandlers } from '@gateway/rpc';
import type { LimitStore } from '../core';
import { fromDecision, toAdmission, toFinished, toRef } from './messages';
import type { RateLimitMetrics } from './metrics';

/** Items in one call. A caller batches what arrived while its last call was under way, which is far less. */
const MAX_ITEMS_PER_CALL = 10_000;

/** Every item is read before the store sees any, so that a malformed one leaves no half of a call behind. */
export function createRateLimitHandlers(
  store: LimitStore,
  metrics: RateLimitMetrics,
): RpcHandlers<typeof RateLimitDefinition> {
  return {
    admit: async ({ admissions }) => {
      const decisions = await store.admit(readAll(admissions, toAdmission));
      decisions.forEach(metrics.decided);
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
  };
}

function readAll<Message, Item>(messages: readonly Message[], read: (message: Message) => Item): Item[] {
  if (messages.length > MAX_ITEMS_PER_CALL) throw new Error(`${messages.length} items in one call`);
  return messages.map(read);
}
