import type { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import type { RpcHandlers } from '@gateway/rpc';
import type { LimitStore } from '../core';
import { fromDecision, toAdmission, toFinished, toRef } from './messages';
import type { RateLimitMetrics } from './metrics';

/** Maximum items in one call; far above the batches of an edge. */
const MAX_ITEMS_PER_CALL = 10_000;

/** Converts every item before it calls the store, so that a malformed item fails the whole call. */
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
  if (messages.length > MAX_ITEMS_PER_CALL)
    throw new Error(`${messages.length} items in one call, more than ${MAX_ITEMS_PER_CALL}`);
  return messages.map(read);
}
