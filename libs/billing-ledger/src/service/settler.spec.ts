import { GenerationFinished } from '@gateway/contracts/events';
import { createMetrics } from '@gateway/runtime';
import { createTestClock } from '@gateway/testing';
import { LedgerUnavailableError, UnbookableError, type LedgerStore } from '../core/ports';
import { makeFinished } from '../testing/ledger-rig';
import { createLedgerMetrics } from './metrics';
import { createSettler, type SettleItem } from './settler';

const clock = createTestClock();

function itemOf(generationId: string): SettleItem {
  return {
    generation: makeFinished({ generationId, cost: 1, at: clock.now() }),
    message: GenerationFinished.fromPartial({ generationId }),
  };
}

/** Settles everything but a batch with a generation of the given name in it. */
function settlerOver(failure: Error, poison: string, booked: string[]) {
  const store: Pick<LedgerStore, 'settleGenerations'> = {
    settleGenerations(generations) {
      const ids = generations.map(({ generationId }) => generationId);
      if (ids.includes(poison)) return Promise.reject(failure);
      booked.push(...ids);
      return Promise.resolve({ settlements: [], duplicates: ids.length, rejected: [] });
    },
  };
  const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
  return createSettler({ store: store as LedgerStore, clock, metrics });
}

const ids = Array.from({ length: 700 }, (_, index) => `gen-${index}`);

it('a generation that cannot be booked is found and rejected alone; all others are booked once', async () => {
  const booked: string[] = [];
  const settle = settlerOver(new UnbookableError('out of range'), 'gen-333', booked);
  expect(await settle(ids.map(itemOf))).toEqual([{ generationId: 'gen-333', reason: 'out of range' }]);
  expect(booked.sort()).toEqual(ids.filter((id) => id !== 'gen-333').sort());
});

it('an unavailable ledger rejects nothing: the whole batch comes again', async () => {
  const settle = settlerOver(new LedgerUnavailableError('away'), 'gen-333', []);
  await expect(settle(ids.map(itemOf))).rejects.toBeInstanceOf(LedgerUnavailableError);
});
