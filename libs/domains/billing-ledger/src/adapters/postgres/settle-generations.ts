import { nanoUsd, type UnixMs, type UtcDay } from '@gateway/base';
import { TOPIC_GENERATION_SETTLED, type TransactionalAppender } from '@gateway/events';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import type { Announce, Announcement, SettlementReport } from '../../core/ports';
import { CLAIM_RETENTION_MS } from '../../core/limits';
import { decideSettlements, expectHeld } from '../../core/settlement/settlement';
import type { ClaimClosing, KnownClaim } from '../../core/idempotency/claim-book';
import type {
  DecidedSettlement,
  FinishedGeneration,
  KnownHold,
  OpenedGeneration,
  Settlement,
} from '../../core/settlement/settlement';
import { inOneRoundTrip, inTwoRoundTrips, plainArray, textArray } from '@gateway/database';

const SETTLE_HELD = {
  name: 'billing_ledger.settle_held',
  text: 'select settle_held($1, $2, $3, $4, $5, $6, $7, $8, $9)',
};

/** What settle_held says when the books are not as expected. */
const NOT_HELD = 'GW001';

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

/** In one round trip where all is as expected, else by what the books say. */
export async function settleGenerations(pool: Pool, input: SettleInput): Promise<SettlementReport> {
  const expected = expectHeld(input.generations);
  if (expected !== undefined && (await settleHeld(pool, expected, input))) {
    return { settlements: expected, duplicates: 0, rejected: [] };
  }
  return settleAsDecided(pool, input);
}

/** Books and announces, unless the books are not as expected: then nothing is done. */
async function settleHeld(
  pool: Pool,
  settlements: readonly Settlement[],
  { announce, appender, nowUnixMs }: SettleInput,
): Promise<boolean> {
  const append = appender.appending(TOPIC_GENERATION_SETTLED, announced(settlements, announce, nowUnixMs));
  const statement = {
    values: [
      textArray(settlements, (settlement) => settlement.generationId),
      textArray(settlements, (settlement) => settlement.organizationId),
      plainArray(settlements, (settlement) => settlement.costNanoUsd),
      ...priceArrays(settlements),
      nowUnixMs,
    ],
    ...SETTLE_HELD,
  };
  try {
    await inOneRoundTrip(pool, (client) => [client.query(statement), append.write(client)]);
    append.committed();
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === NOT_HELD) return false;
    throw error;
  }
}

/** Opens, decides, then books and announces. */
async function settleAsDecided(pool: Pool, input: SettleInput): Promise<SettlementReport> {
  const { generations, announce, appender, nowUnixMs } = input;
  const { report, append } = await inTwoRoundTrips(
    pool,
    (client) => openSettlements(client, generations),
    (opened) => {
      const { settlements, claimClosings, duplicates, rejected } = decideSettlements(generations, opened);
      const append = appender.appending(
        TOPIC_GENERATION_SETTLED,
        announced(settlements, announce, nowUnixMs),
      );
      return {
        result: { report: { settlements, duplicates, rejected }, append },
        write: (client) => [
          ...(settlements.length > 0 ? [bookSettlements(client, settlements, nowUnixMs)] : []),
          ...(claimClosings.length > 0 ? [closeClaims(client, claimClosings, nowUnixMs)] : []),
          // Last, so that whatever the log locks is held for no longer than the commit takes.
          ...(settlements.length > 0 ? [append.write(client)] : []),
        ],
      };
    },
  );
  append.committed();
  return report;
}

function announced(
  settlements: readonly Settlement[],
  announce: Announce,
  nowUnixMs: UnixMs,
): Announcement[] {
  return settlements.map((settlement) => announce(settlement, nowUnixMs));
}

async function openSettlements(
  client: PoolClient,
  generations: readonly FinishedGeneration[],
): Promise<OpenedGeneration[]> {
  const { rows } = await client.query<OpenedRow>({
    values: [
      textArray(generations, (generation) => generation.generationId),
      textArray(generations, (generation) => generation.organizationId),
      textArray(generations, (generation) => generation.idempotentOutcome?.scope),
    ],
    ...OPEN,
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

async function bookSettlements(
  client: PoolClient,
  settlements: readonly DecidedSettlement[],
  nowUnixMs: number,
) {
  await client.query({
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
      ...priceArrays(settlements),
      nowUnixMs,
    ],
    ...BOOK,
  });
}

/** In the order in which the functions take them. */
function priceArrays(settlements: readonly Settlement[]): string[] {
  return [
    plainArray(settlements, ({ prices }) => prices.inputNanoUsdPerMillion),
    plainArray(settlements, ({ prices }) => prices.cachedInputNanoUsdPerMillion),
    plainArray(settlements, ({ prices }) => prices.outputNanoUsdPerMillion),
    plainArray(settlements, ({ prices }) => prices.reasoningNanoUsdPerMillion),
    plainArray(settlements, ({ prices }) => prices.imageNanoUsdPerMillion),
  ];
}

async function closeClaims(client: PoolClient, closings: readonly ClaimClosing[], nowUnixMs: number) {
  await client.query({
    values: [
      textArray(closings, (closing) => closing.scope),
      textArray(closings, (closing) => closing.generationId),
      closings.map(({ responseJson }) => (responseJson ? Buffer.from(responseJson) : null)),
      nowUnixMs + CLAIM_RETENTION_MS,
    ],
    ...CLOSE_CLAIMS,
  });
}
