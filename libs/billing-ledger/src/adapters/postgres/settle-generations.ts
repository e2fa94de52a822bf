import { nanoUsd, type UnixMs, type UtcDay } from '@gateway/base';
import { TOPIC_GENERATION_SETTLED, type TransactionalAppender } from '@gateway/events';
import type { PoolClient } from 'pg';
import type { Announce, SettlementReport } from '../../core/ports';
import { CLAIM_RETENTION_MS } from '../../core/limits';
import { decideSettlements } from '../../core/settlement/settlement';
import type { ClaimClosing, KnownClaim } from '../../core/idempotency/claim-book';
import type {
  FinishedGeneration,
  KnownHold,
  OpenedGeneration,
  Settlement,
} from '../../core/settlement/settlement';
import { plainArray, textArray } from '@gateway/database';

const OPEN = {
  name: 'billing_ledger.open_settlements',
  text: 'select * from open_settlements($1, $2, $3)',
};

const BOOK = {
  name: 'billing_ledger.book_settlements',
  text: 'select book_settlements($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)',
};

const CLOSE_CLAIMS = {
  name: 'billing_ledger.close_idempotency_claims',
  text: 'select close_idempotency_claims($1, $2, $3::bytea[], $4)',
};

interface OpenedRow {
  readonly available_nano_usd: bigint;
  readonly hold_organization_id: string | null;
  readonly hold_state: KnownHold['state'];
  readonly hold_key_id: string;
  readonly hold_amount_nano_usd: bigint;
  readonly hold_day: UtcDay;
  readonly input_nano_usd_per_million: bigint;
  readonly cached_input_nano_usd_per_million: bigint;
  readonly output_nano_usd_per_million: bigint;
  readonly reasoning_nano_usd_per_million: bigint;
  readonly image_nano_usd_per_million: bigint;
  readonly claim_scope: string | null;
  readonly claim_state: KnownClaim['state'];
  readonly claim_generation_id: string;
}

export interface SettleInput {
  readonly generations: readonly FinishedGeneration[];
  readonly announce: Announce;
  readonly appender: TransactionalAppender<PoolClient>;
  readonly nowUnixMs: UnixMs;
}

/** Settles in the transaction of `client`: open, decide, book, announce. */
export async function settleGenerations(client: PoolClient, input: SettleInput): Promise<SettlementReport> {
  const { generations, announce, appender, nowUnixMs } = input;
  const opened = await openSettlements(client, generations);
  const { settlements, claimClosings, duplicates, rejected } = decideSettlements(generations, opened);
  if (settlements.length > 0) await bookSettlements(client, settlements, nowUnixMs);
  if (claimClosings.length > 0) await closeClaims(client, claimClosings, nowUnixMs);
  if (settlements.length > 0) {
    // Last, so that whatever the log locks is held for no longer than the commit takes.
    const announcements = settlements.map((settlement) => announce(settlement, nowUnixMs));
    await appender.appendIn(client, TOPIC_GENERATION_SETTLED, announcements);
  }
  return { settlements, duplicates, rejected };
}

async function openSettlements(
  client: PoolClient,
  generations: readonly FinishedGeneration[],
): Promise<OpenedGeneration[]> {
  const { rows } = await client.query<OpenedRow>({
    ...OPEN,
    values: [
      textArray(generations, (generation) => generation.generationId),
      textArray(generations, (generation) => generation.organizationId),
      textArray(generations, (generation) => generation.idempotentOutcome?.scope),
    ],
  });
  return rows.map((row) => ({
    availableNanoUsd: nanoUsd(row.available_nano_usd),
    hold: row.hold_organization_id === null ? undefined : holdOf(row, row.hold_organization_id),
    claim:
      row.claim_scope === null
        ? undefined
        : { scope: row.claim_scope, state: row.claim_state, generationId: row.claim_generation_id },
  }));
}

function holdOf(row: OpenedRow, organizationId: string): KnownHold {
  return {
    organizationId,
    keyId: row.hold_key_id,
    state: row.hold_state,
    amountNanoUsd: nanoUsd(row.hold_amount_nano_usd),
    day: row.hold_day,
    prices: {
      inputNanoUsdPerMillion: row.input_nano_usd_per_million,
      cachedInputNanoUsdPerMillion: row.cached_input_nano_usd_per_million,
      outputNanoUsdPerMillion: row.output_nano_usd_per_million,
      reasoningNanoUsdPerMillion: row.reasoning_nano_usd_per_million,
      imageNanoUsdPerMillion: row.image_nano_usd_per_million,
    },
  };
}

async function bookSettlements(client: PoolClient, settlements: readonly Settlement[], nowUnixMs: number) {
  await client.query({
    ...BOOK,
    values: [
      textArray(settlements, (settlement) => settlement.generationId),
      textArray(settlements, (settlement) => settlement.organizationId),
      textArray(settlements, (settlement) => settlement.keyId),
      plainArray(settlements, (settlement) => settlement.day),
      plainArray(settlements, (settlement) => settlement.createdUnixMs),
      plainArray(settlements, (settlement) => settlement.origin !== 'unseen'),
      plainArray(settlements, (settlement) => settlement.releasedNanoUsd),
      plainArray(settlements, (settlement) => settlement.costNanoUsd),
      plainArray(settlements, (settlement) => settlement.chargedNanoUsd),
      plainArray(settlements, (settlement) => settlement.isWaived),
      plainArray(settlements, (settlement) => settlement.prices.inputNanoUsdPerMillion),
      plainArray(settlements, (settlement) => settlement.prices.cachedInputNanoUsdPerMillion),
      plainArray(settlements, (settlement) => settlement.prices.outputNanoUsdPerMillion),
      plainArray(settlements, (settlement) => settlement.prices.reasoningNanoUsdPerMillion),
      plainArray(settlements, (settlement) => settlement.prices.imageNanoUsdPerMillion),
      nowUnixMs,
    ],
  });
}

async function closeClaims(client: PoolClient, closings: readonly ClaimClosing[], nowUnixMs: number) {
  await client.query({
    ...CLOSE_CLAIMS,
    values: [
      textArray(closings, (closing) => closing.scope),
      textArray(closings, (closing) => closing.generationId),
      closings.map(({ responseJson }) => (responseJson ? Buffer.from(responseJson) : null)),
      nowUnixMs + CLAIM_RETENTION_MS,
    ],
  });
}
