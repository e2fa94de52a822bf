import { nanoUsd, type UnixMs } from '@gateway/base';
import { newId } from '@gateway/runtime';

/** One nano-dollar per token. */
const PRICES = {
  inputNanoUsdPerMillion: 1_000_000n,
  cachedInputNanoUsdPerMillion: 1_000_000n,
  cacheWriteNanoUsdPerMillion: 1_000_000n,
  cacheWrite1hNanoUsdPerMillion: 1_000_000n,
  outputNanoUsdPerMillion: 1_000_000n,
  reasoningNanoUsdPerMillion: 1_000_000n,
  imageNanoUsdPerMillion: 0n,
  tiers: [],
};
const TOKENS = { promptTokens: 500, completionTokens: 200 };
export const COST_NANO_USD = 700n;

/** About the size of a finished or settled generation. */
const EVENT_BYTES = 300;

/** Holds for organizations, without budgets. */
export function newHolds(organizationIds: readonly string[], at: UnixMs, lifetimeMs = 660_000) {
  return organizationIds.map((organizationId) => ({
    holdId: newId('gen'),
    organizationId,
    keyId: 'key-bench',
    amountNanoUsd: nanoUsd(1_000n),
    prices: PRICES,
    budgets: [],
    createdAt: at,
    lifetimeMs,
    idempotencyScope: undefined,
    runId: undefined,
    projectId: undefined,
  }));
}

type Hold = ReturnType<typeof newHolds>[number];

export function finishedOf({ holdId, organizationId, keyId, createdAt }: Hold) {
  return {
    generationId: holdId,
    organizationId,
    keyId,
    projectId: undefined,
    createdAt,
    usage: {
      ...TOKENS,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
      reasoningTokens: 0,
    },
    prices: PRICES,
    endedClaim: undefined,
  };
}

/** The announcement of a settlement. */
export const announce = ({ organizationId }: { readonly organizationId: string }) => ({
  key: organizationId,
  payload: Buffer.alloc(EVENT_BYTES),
});
