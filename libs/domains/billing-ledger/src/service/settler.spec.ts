import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { nanoUsd, type ConsumerProgress } from '@gateway/base';
import { GenerationFinished, GenerationSettled } from '@gateway/contracts/events';
import { createMetrics } from '@gateway/runtime';
import { createTestClock } from '@gateway/test-support';
import { type Announcement, LedgerUnavailableError, UnbookableError, type LedgerStore } from '../core/ports';
import { makeFinished } from '../testing/ledger-fixture';
import { createLedgerMetrics } from './metrics';
import { createSettler, type SettleItem } from './settler';

const clock = createTestClock();

function itemOf(generationId: string): SettleItem {
  return {
    generation: makeFinished({ generationId, cost: 1, at: clock.now() }),
    message: GenerationFinished.fromPartial({ generationId }),
  };
}

/** Rejects every batch that contains the generation `invalid`. */
function settlerOver(failure: Error, invalid: string, settled: string[]) {
  const store: Pick<LedgerStore, 'settleGenerations'> = {
    settleGenerations(generations) {
      const ids = generations.map(({ generationId }) => generationId);
      if (ids.includes(invalid)) return Promise.reject(failure);
      settled.push(...ids);
      return Promise.resolve({ settlements: [], duplicates: ids.length, rejected: [] });
    },
  };
  const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
  return createSettler({ store: store as LedgerStore, clock, metrics });
}

const ids = Array.from({ length: 700 }, (_, index) => `gen-${index}`);

it('finds and rejects only the generation that cannot be settled; all others are settled once', async () => {
  const settled: string[] = [];
  const settle = settlerOver(new UnbookableError('out of range'), 'gen-333', settled);
  expect(await settle(ids.map(itemOf))).toEqual([{ generationId: 'gen-333', reason: 'out of range' }]);
  expect(settled.sort()).toEqual(ids.filter((id) => id !== 'gen-333').sort());
});

it('rejects the whole batch for a retry when the ledger is unavailable', async () => {
  const settle = settlerOver(new LedgerUnavailableError('unavailable'), 'gen-333', []);
  await expect(settle(ids.map(itemOf))).rejects.toBeInstanceOf(LedgerUnavailableError);
});

it('settles generations without usage apart, since those of voided holds slow down their batch', async () => {
  const batches: string[][] = [];
  const store: Pick<LedgerStore, 'settleGenerations'> = {
    settleGenerations(generations) {
      batches.push(generations.map(({ generationId }) => generationId));
      return Promise.resolve({ settlements: [], duplicates: generations.length, rejected: [] });
    },
  };
  const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
  const failed = (generationId: string): SettleItem => ({
    ...itemOf(generationId),
    generation: makeFinished({ generationId, cost: 0, at: clock.now() }),
  });
  const items = [itemOf('gen-1'), failed('gen-2'), itemOf('gen-3'), failed('gen-4')];
  await createSettler({ store: store as LedgerStore, clock, metrics })(items);
  expect(batches).toEqual([
    ['gen-2', 'gen-4'],
    ['gen-1', 'gen-3'],
  ]);
});

describe('the progress of a consumer', () => {
  const progress: ConsumerProgress = { write: async () => undefined, committed: () => undefined };

  /** The batches by size, and whether the progress was given to them. */
  async function batchesOf(items: readonly SettleItem[], invalid?: Error): Promise<[number, boolean][]> {
    const batches: [number, boolean][] = [];
    const store: Pick<LedgerStore, 'settleGenerations'> = {
      settleGenerations(generations, _announce, given) {
        batches.push([generations.length, given !== undefined]);
        if (invalid && generations.some(({ generationId }) => generationId === 'gen-3')) {
          return Promise.reject(invalid);
        }
        return Promise.resolve({ settlements: [], duplicates: generations.length, rejected: [] });
      },
    };
    const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
    await createSettler({ store: store as LedgerStore, clock, metrics })(items, progress);
    return batches;
  }

  it('is stored with the last batch only', async () => {
    const claimed = itemOf('gen-claimed');
    const endedClaim = { scope: 'scope', responseJson: undefined, ending: 'failed' as const };
    const items = [...ids.map(itemOf), { ...claimed, generation: { ...claimed.generation, endedClaim } }];
    const batches = await batchesOf(items as SettleItem[]);
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.map(([, isGiven]) => isGiven)).toEqual(
      batches.map((_, index) => index === batches.length - 1),
    );
  });

  it('is not stored with a part of a batch', async () => {
    const batches = await batchesOf(ids.slice(0, 8).map(itemOf), new UnbookableError('out of range'));
    expect(batches.filter(([, isGiven]) => isGiven)).toEqual([[8, true]]);
  });
});

describe('the announcement of a settlement', () => {
  const message = GenerationFinished.fromPartial({
    generationId: 'gen-1',
    organizationId: 'org-1',
    modelId: 'acme/small',
    usage: { promptTokens: 12, completionTokens: 3 },
    attempts: [{ provider: 'acme', providerModel: 'small-1', outcome: 'ok', durationMs: 4 }],
    providerCostNanoUsd: 6n,
  });
  const prices = {
    inputNanoUsdPerMillion: 1n,
    cachedInputNanoUsdPerMillion: 2n,
    cacheWriteNanoUsdPerMillion: 6n,
    cacheWrite1hNanoUsdPerMillion: 7n,
    outputNanoUsdPerMillion: 3n,
    reasoningNanoUsdPerMillion: 4n,
    imageNanoUsdPerMillion: 5n,
    tiers: [],
  };
  const endedClaim = { scope: 'key-1/POST', responseJson: Buffer.from('the response'), ending: 1 };
  const settlement = {
    generationId: 'gen-1',
    organizationId: 'org-1',
    costNanoUsd: nanoUsd(7n),
    chargedNanoUsd: nanoUsd(5n),
    createdAt: clock.now(),
    prices: { ...prices },
    origin: 'held' as const,
    isWaived: false,
  };

  async function announcedOf(item: Partial<SettleItem>): Promise<Announcement> {
    let announced: Announcement | undefined;
    const store: Pick<LedgerStore, 'settleGenerations'> = {
      settleGenerations(_, announce) {
        announced = announce(settlement, clock.now());
        return Promise.resolve({ settlements: [], duplicates: 1, rejected: [] });
      },
    };
    const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
    const settle = createSettler({ store: store as LedgerStore, clock, metrics });
    await settle([{ ...itemOf('gen-1'), message, ...item }]);
    return announced as Announcement;
  }

  it('is the same for an event and for an rpc', async () => {
    const fromMessage = await announcedOf({});
    const fromBytes = await announcedOf({ payload: GenerationFinished.encode(message).finish() });
    const settled = GenerationSettled.decode(fromBytes.payload);
    expect(settled).toEqual({
      finished: message,
      costNanoUsd: 7n,
      chargedNanoUsd: 5n,
      settledUnixMs: BigInt(clock.now()),
      prices,
      window: undefined,
    });
    expect(GenerationSettled.decode(fromMessage.payload)).toEqual(settled);
    expect(fromBytes.key).toBe('org-1');
  });

  it('never contains the response', async () => {
    const withResponse = { ...message, endedClaim };
    const payload = GenerationFinished.encode(withResponse).finish();
    for (const item of [{ message: withResponse }, { message: withResponse, payload }]) {
      const announced = await announcedOf(item);
      expect(GenerationSettled.decode(announced.payload).finished).toEqual(message);
      expect(Buffer.from(announced.payload).includes('the response')).toBe(false);
    }
  });

  it('preserves fields of a later version', async () => {
    const later = new BinaryWriter().tag(15_000, WireType.LengthDelimited).string('a new field').finish();
    const payload = Buffer.concat([GenerationFinished.encode(message).finish(), later]);
    const announced = await announcedOf({ payload });
    expect(Buffer.from(announced.payload).includes('a new field')).toBe(true);
    expect(GenerationSettled.decode(announced.payload).finished).toEqual(message);
  });
});
