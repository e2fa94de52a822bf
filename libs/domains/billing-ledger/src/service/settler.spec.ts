import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { nanoUsd } from '@gateway/base';
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

describe('what is announced of a finished generation', () => {
  const message = GenerationFinished.fromPartial({
    generationId: 'gen-1',
    organizationId: 'org-1',
    modelId: 'acme/small',
    usage: { promptTokens: 12, completionTokens: 3 },
    attempts: [{ provider: 'acme', providerModel: 'small-1', outcome: 'ok', durationMs: 4 }],
  });
  const prices = {
    inputNanoUsdPerMillion: 1n,
    cachedInputNanoUsdPerMillion: 2n,
    outputNanoUsdPerMillion: 3n,
    reasoningNanoUsdPerMillion: 4n,
    imageNanoUsdPerMillion: 5n,
  };
  const answered = { scope: 'key-1/POST', responseJson: Buffer.from('the answer'), ending: 1 };
  const booked = {
    generationId: 'gen-1',
    organizationId: 'org-1',
    costNanoUsd: nanoUsd(7n),
    chargedNanoUsd: nanoUsd(5n),
    createdUnixMs: clock.now(),
    prices: { ...prices },
    origin: 'held' as const,
    isWaived: false,
  };

  async function announcedOf(item: Partial<SettleItem>): Promise<Announcement> {
    let announced: Announcement | undefined;
    const store: Pick<LedgerStore, 'settleGenerations'> = {
      settleGenerations(_, announce) {
        announced = announce(booked, clock.now());
        return Promise.resolve({ settlements: [], duplicates: 1, rejected: [] });
      },
    };
    const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
    const settle = createSettler({ store: store as LedgerStore, clock, metrics });
    await settle([{ ...itemOf('gen-1'), message, ...item }]);
    return announced as Announcement;
  }

  it('is the same whether it came as bytes or as a message', async () => {
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

  it('has no answer in it, however it came', async () => {
    const withAnswer = { ...message, idempotentOutcome: answered };
    const payload = GenerationFinished.encode(withAnswer).finish();
    for (const item of [{ message: withAnswer }, { message: withAnswer, payload }]) {
      const announced = await announcedOf(item);
      expect(GenerationSettled.decode(announced.payload).finished).toEqual(message);
      expect(Buffer.from(announced.payload).includes('the answer')).toBe(false);
    }
  });

  it('keeps fields of a later version', async () => {
    const later = new BinaryWriter().tag(15_000, WireType.LengthDelimited).string('what is new').finish();
    const payload = Buffer.concat([GenerationFinished.encode(message).finish(), later]);
    const announced = await announcedOf({ payload });
    expect(Buffer.from(announced.payload).includes('what is new')).toBe(true);
    expect(GenerationSettled.decode(announced.payload).finished).toEqual(message);
  });
});
