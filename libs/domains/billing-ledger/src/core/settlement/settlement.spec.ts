import { nanoUsd, type UnixMs, type UtcDay } from '@gateway/base';
import { MAX_AMOUNT_NANO_USD } from '../limits';
import {
  decideSettlements,
  type FinishedGeneration,
  type StoredHold,
  type LockedGeneration,
} from './settlement';

const PRICES = {
  inputNanoUsdPerMillion: 2_000_000n,
  cachedInputNanoUsdPerMillion: 3_000_000n,
  cacheWriteNanoUsdPerMillion: 11_000_000n,
  cacheWrite1hNanoUsdPerMillion: 13_000_000n,
  outputNanoUsdPerMillion: 1_000_000n,
  reasoningNanoUsdPerMillion: 5_000_000n,
  imageNanoUsdPerMillion: 7_000_000n,
  tiers: [],
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
    projectId: 'proj-of-event',
    createdAt: Date.UTC(2026, 10, 20, 23) as UnixMs,
    usage: {
      promptTokens: 0,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
      completionTokens: cost,
      reasoningTokens: 0,
    },
    prices: PRICES,
    endedClaim: undefined,
    ...more,
  };
}

function locked(
  available: number,
  hold?: Partial<StoredHold>,
  more: Partial<LockedGeneration> = {},
): LockedGeneration {
  return {
    availableNanoUsd: nanoUsd(BigInt(available)),
    hold: hold && {
      organizationId: 'org',
      keyId: 'key-of-hold',
      projectId: undefined,
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

const only = (generation: FinishedGeneration, stored: LockedGeneration) =>
  decideSettlements([generation], [stored]).settlements[0];

describe('the charge', () => {
  it('prices each kind of token separately', () => {
    const usage = {
      promptTokens: 19,
      cachedTokens: 3,
      cacheWriteTokens: 4,
      cacheWrite1hTokens: 5,
      imageTokens: 2,
      completionTokens: 8,
      reasoningTokens: 6,
    };
    const hold = { amountNanoUsd: nanoUsd(1_000n) };
    expect(only(finished('g', 0, { usage }), locked(0, hold))?.costNanoUsd).toBe(
      5n * 2n + 3n * 3n + 4n * 11n + 5n * 13n + 2n * 7n + 2n * 1n + 6n * 5n,
    );
  });

  it.each([
    ['is the cost, below the hold', 20, 0, 20n],
    ['is the cost, equal to the hold', 50, 0, 50n],
    ['is the cost, above the hold, if the balance covers it', 70, 30, 70n],
    ['is at most the hold plus the available balance', 90, 30, 80n],
    ['is zero without usage', 0, 30, 0n],
  ])('%s', (_what, cost, available, charged) => {
    expect(only(finished('g', cost), locked(available, {}))).toMatchObject({
      origin: 'held',
      releasedNanoUsd: 50n,
      costNanoUsd: BigInt(cost),
      chargedNanoUsd: charged,
    });
  });

  it('uses only the available balance if the hold was voided or never placed', () => {
    const late = only(finished('g', 20), locked(15, { state: 'voided' }));
    expect(late).toMatchObject({ origin: 'late', releasedNanoUsd: 0n, chargedNanoUsd: 15n });
    const withoutHold = only(finished('g', 20), locked(15));
    expect(withoutHold).toMatchObject({ origin: 'no_hold', releasedNanoUsd: 0n, chargedNanoUsd: 15n });
  });

  it('never exceeds the balance of an organization over a batch', () => {
    const { settlements } = decideSettlements(
      [
        finished('g1', 60),
        finished('g2', 60),
        finished('g3', 10),
        finished('g4', 60, { organizationId: 'other' }),
      ],
      [locked(15, {}), locked(15, {}), locked(15, {}), locked(100)],
    );
    expect(settlements.map(({ chargedNanoUsd }) => chargedNanoUsd)).toEqual([60n, 55n, 10n, 60n]);
  });
});

it('takes key and day from the hold, or from the event without a hold', () => {
  expect(only(finished('g', 1), locked(9, {}))).toMatchObject({ keyId: 'key-of-hold', day: '2026-11-19' });
  expect(only(finished('g', 1), locked(9))).toMatchObject({ keyId: 'key-of-event', day: '2026-11-20' });
});

it('settles a generation once, across batches and within one', () => {
  const decision = decideSettlements(
    [finished('g1', 1), finished('g2', 2), finished('g2', 3)],
    [locked(9, { state: 'settled' }), locked(9, {}), locked(9, {})],
  );
  expect(decision.settlements.map(({ costNanoUsd }) => costNanoUsd)).toEqual([2n]);
  expect(decision.duplicates).toBe(2);
});

it.each([
  ["another organization's open hold", finished('g', 1), locked(9, { organizationId: 'other' })],
  [
    "another organization's settled hold",
    finished('g', 1),
    locked(9, { organizationId: 'other', state: 'settled' }),
  ],
  ['neither hold nor prices', finished('g', 1, { prices: undefined }), locked(9)],
  [
    'a cost above the limit',
    finished('g', 4_000_000_000, { prices: { ...PRICES, outputNanoUsdPerMillion: 2n ** 62n } }),
    locked(9),
  ],
])('rejects %s', (_what, generation, stored) => {
  const decision = decideSettlements([generation], [stored]);
  expect(decision.settlements).toEqual([]);
  expect(decision.rejected).toHaveLength(1);
});

describe('a claim of an Idempotency-Key', () => {
  const completed = {
    scope: 'scope',
    ending: 'completed',
    response: { encrypted: Buffer.from('encrypted') },
  } as const;
  const failed = { scope: 'scope', ending: 'failed', response: undefined } as const;
  const running = (generationId: string) =>
    locked(99, {}, { claim: { scope: 'scope', state: 'running', generationId } });

  it('is completed by the first response; other generations owe nothing and their holds are released', () => {
    const decision = decideSettlements(
      [finished('g1', 5, { endedClaim: completed }), finished('g2', 5, { endedClaim: completed })],
      [running('g2'), running('g2')],
    );
    expect(decision.claimClosings.map(({ generationId }) => generationId)).toEqual(['g1']);
    expect(decision.settlements).toMatchObject([
      { isWaived: false, chargedNanoUsd: 5n },
      { isWaived: true, chargedNanoUsd: 0n, releasedNanoUsd: 50n, costNanoUsd: 5n },
    ]);
  });

  it('is released when its holder fails, which is charged; not by a former holder', () => {
    const holder = decideSettlements([finished('g1', 5, { endedClaim: failed })], [running('g1')]);
    expect(holder.claimClosings).toEqual([{ scope: 'scope', generationId: 'g1', response: undefined }]);
    expect(holder.settlements).toMatchObject([{ chargedNanoUsd: 5n }]);
    const former = decideSettlements([finished('g1', 5, { endedClaim: failed })], [running('g2')]);
    expect(former.claimClosings).toEqual([]);
    expect(former.settlements).toMatchObject([{ chargedNanoUsd: 5n }]);
  });

  it('is released by a holder whose event does not name it', () => {
    expect(decideSettlements([finished('g1', 5)], [running('g1')]).claimClosings).toHaveLength(1);
  });
});

describe('a generation that cannot be settled', () => {
  const decide = (generation: FinishedGeneration, stored: LockedGeneration) =>
    decideSettlements([generation], [stored]);

  it('has an abandoned hold', () => {
    const decision = decide(
      finished('g', 20),
      locked(100, { state: 'abandoned', amountNanoUsd: nanoUsd(0n) }),
    );
    expect(decision.settlements).toEqual([]);
    expect(decision.rejected).toEqual([
      { generationId: 'g', reason: 'its hold was voided before it was placed, or is past its retention' },
    ]);
  });

  it('has a cost above the largest amount of the ledger, by at least one nano-dollar', () => {
    const costing = (costNanoUsd: bigint) =>
      finished('g', 1_000_000, { prices: { ...PRICES, outputNanoUsdPerMillion: costNanoUsd } });
    const largest = decide(costing(MAX_AMOUNT_NANO_USD), locked(7));
    expect(largest.settlements).toMatchObject([{ costNanoUsd: MAX_AMOUNT_NANO_USD, chargedNanoUsd: 7n }]);
    expect(decide(costing(MAX_AMOUNT_NANO_USD + 1n), locked(7)).rejected).toEqual([
      { generationId: 'g', reason: 'its cost exceeds the largest amount of the ledger' },
    ]);
  });

  it('throws if its state was not locked, which is a bug of the ledger', () => {
    expect(() => decideSettlements([finished('g', 1), finished('h', 1)], [locked(7)])).toThrow(
      'generation h was not locked',
    );
  });
});
