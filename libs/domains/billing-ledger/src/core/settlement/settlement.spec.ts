import { nanoUsd, type UnixMs, type UtcDay } from '@gateway/base';
import { MAX_AMOUNT_NANO_USD } from '../limits';
import {
  decideSettlements,
  type FinishedGeneration,
  type KnownHold,
  type OpenedGeneration,
} from './settlement';

const PRICES = {
  inputNanoUsdPerMillion: 2_000_000n,
  cachedInputNanoUsdPerMillion: 3_000_000n,
  outputNanoUsdPerMillion: 1_000_000n,
  reasoningNanoUsdPerMillion: 5_000_000n,
  imageNanoUsdPerMillion: 7_000_000n,
};

function finished(
  generationId: string,
  cost: number,
  more: Partial<FinishedGeneration> = {},
): FinishedGeneration {
  return {
    generationId,
    organizationId: 'org',
    keyId: 'key-of-event',
    createdUnixMs: Date.UTC(2026, 10, 20, 23) as UnixMs,
    usage: { promptTokens: 0, cachedTokens: 0, imageTokens: 0, completionTokens: cost, reasoningTokens: 0 },
    prices: PRICES,
    idempotentOutcome: undefined,
    ...more,
  };
}

function opened(
  available: number,
  hold?: Partial<KnownHold>,
  more: Partial<OpenedGeneration> = {},
): OpenedGeneration {
  return {
    availableNanoUsd: nanoUsd(BigInt(available)),
    hold: hold && {
      organizationId: 'org',
      keyId: 'key-of-hold',
      state: 'held',
      amountNanoUsd: nanoUsd(50n),
      prices: PRICES,
      day: '2026-11-19' as UtcDay,
      ...hold,
    },
    claim: undefined,
    ...more,
  };
}

const only = (generation: FinishedGeneration, books: OpenedGeneration) =>
  decideSettlements([generation], [books]).settlements[0];

describe('what is charged', () => {
  it('is each kind of token at its own price', () => {
    const usage = {
      promptTokens: 10,
      cachedTokens: 3,
      imageTokens: 2,
      completionTokens: 8,
      reasoningTokens: 6,
    };
    const hold = { amountNanoUsd: nanoUsd(1_000n) };
    expect(only(finished('g', 0, { usage }), opened(0, hold))?.costNanoUsd).toBe(
      5n * 2n + 3n * 3n + 2n * 7n + 2n * 1n + 6n * 5n,
    );
  });

  it.each([
    ['a cost below the hold', 20, 0, 20n],
    ['a cost of just the hold', 50, 0, 50n],
    ['a cost above the hold, from what is available', 70, 30, 70n],
    ['no more than hold and available together', 90, 30, 80n],
    ['nothing, when nothing was used', 0, 30, 0n],
  ])('%s', (_what, cost, available, charged) => {
    expect(only(finished('g', cost), opened(available, {}))).toMatchObject({
      origin: 'held',
      releasedNanoUsd: 50n,
      costNanoUsd: BigInt(cost),
      chargedNanoUsd: charged,
    });
  });

  it('comes from what is available alone when the hold was voided or never seen', () => {
    const late = only(finished('g', 20), opened(15, { state: 'voided' }));
    expect(late).toMatchObject({ origin: 'late', releasedNanoUsd: 0n, chargedNanoUsd: 15n });
    const unseen = only(finished('g', 20), opened(15));
    expect(unseen).toMatchObject({ origin: 'unseen', releasedNanoUsd: 0n, chargedNanoUsd: 15n });
  });

  it('never adds up to more than an organization has, over a whole batch', () => {
    const { settlements } = decideSettlements(
      [
        finished('g1', 60),
        finished('g2', 60),
        finished('g3', 10),
        finished('g4', 60, { organizationId: 'other' }),
      ],
      [opened(15, {}), opened(15, {}), opened(15, {}), opened(100)],
    );
    expect(settlements.map(({ chargedNanoUsd }) => chargedNanoUsd)).toEqual([60n, 55n, 10n, 60n]);
  });
});

it('takes key and day from the hold, and from the event when there is none', () => {
  expect(only(finished('g', 1), opened(9, {}))).toMatchObject({ keyId: 'key-of-hold', day: '2026-11-19' });
  expect(only(finished('g', 1), opened(9))).toMatchObject({ keyId: 'key-of-event', day: '2026-11-20' });
});

it('books a generation once: not when it is settled, not twice in a batch', () => {
  const decision = decideSettlements(
    [finished('g1', 1), finished('g2', 2), finished('g2', 3)],
    [opened(9, { state: 'settled' }), opened(9, {}), opened(9, {})],
  );
  expect(decision.settlements.map(({ costNanoUsd }) => costNanoUsd)).toEqual([2n]);
  expect(decision.duplicates).toBe(2);
});

it.each([
  ["another organization's open hold", finished('g', 1), opened(9, { organizationId: 'other' })],
  [
    "another organization's settled hold",
    finished('g', 1),
    opened(9, { organizationId: 'other', state: 'settled' }),
  ],
  ['neither hold nor prices', finished('g', 1, { prices: undefined }), opened(9)],
  [
    'a cost beyond all bounds',
    finished('g', 4_000_000_000, { prices: { ...PRICES, outputNanoUsdPerMillion: 2n ** 62n } }),
    opened(9),
  ],
])('rejects %s', (_what, generation, books) => {
  const decision = decideSettlements([generation], [books]);
  expect(decision.settlements).toEqual([]);
  expect(decision.rejected).toHaveLength(1);
});

describe('a claim of an Idempotency-Key', () => {
  const answer = { scope: 'scope', ending: 'answered', responseJson: Buffer.from('{}') } as const;
  const failure = { scope: 'scope', ending: 'failed', responseJson: undefined } as const;
  const running = (generationId: string) =>
    opened(99, {}, { claim: { scope: 'scope', state: 'running', generationId } });

  it('is completed by the first that answers; the others owe nothing and get their hold back', () => {
    const decision = decideSettlements(
      [finished('g1', 5, { idempotentOutcome: answer }), finished('g2', 5, { idempotentOutcome: answer })],
      [running('g2'), running('g2')],
    );
    expect(decision.claimClosings.map(({ generationId }) => generationId)).toEqual(['g1']);
    expect(decision.settlements).toMatchObject([
      { isWaived: false, chargedNanoUsd: 5n },
      { isWaived: true, chargedNanoUsd: 0n, releasedNanoUsd: 50n, costNanoUsd: 5n },
    ]);
  });

  it('is released by its holder that failed, who pays; not by one it was taken from', () => {
    const holder = decideSettlements([finished('g1', 5, { idempotentOutcome: failure })], [running('g1')]);
    expect(holder.claimClosings).toEqual([{ scope: 'scope', generationId: 'g1', responseJson: undefined }]);
    expect(holder.settlements).toMatchObject([{ chargedNanoUsd: 5n }]);
    const former = decideSettlements([finished('g1', 5, { idempotentOutcome: failure })], [running('g2')]);
    expect(former.claimClosings).toEqual([]);
    expect(former.settlements).toMatchObject([{ chargedNanoUsd: 5n }]);
  });

  it('is released by a holder whose event does not name it', () => {
    expect(decideSettlements([finished('g1', 5)], [running('g1')]).claimClosings).toHaveLength(1);
  });
});

describe('what is never booked', () => {
  const rejectedOf = (generation: FinishedGeneration, books: OpenedGeneration) =>
    decideSettlements([generation], [books]);

  it('is a generation whose hold was given up before it was taken', () => {
    const decision = rejectedOf(
      finished('g', 20),
      opened(100, { state: 'given_up', amountNanoUsd: nanoUsd(0n) }),
    );
    expect(decision.settlements).toEqual([]);
    expect(decision.rejected).toEqual([
      { generationId: 'g', reason: 'its hold was given up before it was taken' },
    ]);
  });

  it('is a cost above the largest amount that the ledger books, and not a nano-dollar less', () => {
    const costing = (costNanoUsd: bigint) =>
      finished('g', 1_000_000, { prices: { ...PRICES, outputNanoUsdPerMillion: costNanoUsd } });
    const largest = rejectedOf(costing(MAX_AMOUNT_NANO_USD), opened(7));
    expect(largest.settlements).toMatchObject([{ costNanoUsd: MAX_AMOUNT_NANO_USD, chargedNanoUsd: 7n }]);
    expect(rejectedOf(costing(MAX_AMOUNT_NANO_USD + 1n), opened(7)).rejected).toEqual([
      { generationId: 'g', reason: 'its cost is larger than any the ledger books' },
    ]);
  });

  it('is what the books were not opened for: that is a fault of the ledger itself', () => {
    expect(() => decideSettlements([finished('g', 1), finished('h', 1)], [opened(7)])).toThrow(
      'generation h was not opened',
    );
  });
});
