import {
  decodePrices,
  encodePrices,
  nanoUsd,
  type ConsumerProgress,
  type UnixMs,
  type UtcDay,
} from '@gateway/base';
import { TOPIC_GENERATION_SETTLED, type TransactionalAppender } from '@gateway/events';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import type { Announce, Announcement, SettlementReport } from '../../core/ports';
import { CLAIM_RETENTION_MS } from '../../core/limits';
import { decideSettlements, predictSettlements } from '../../core/settlement/settlement';
import type { ClaimClosing, StoredClaim } from '../../core/idempotency/batch-claims';
import type {
  DecidedSettlement,
  FinishedGeneration,
  StoredHold,
  LockedGeneration,
  Settlement,
} from '../../core/settlement/settlement';
import { inOneRoundTrip, inTwoRoundTrips, plainArray, textArray } from '@gateway/database';
import { batchCall, type BatchArgument } from './batch-call';

const PRICES: BatchArgument<Settlement> = [
  'p_prices',
  (all) => textArray(all, ({ prices }) => encodePrices(prices)),
];

/** Settlements are announced with the time at which they are posted, in the same round trip. */
const NOW = ['p_now_unix_ms'];

const SETTLE_OPEN_HOLDS = batchCall<Settlement>(
  'settle_open_holds',
  [
    ['p_generation_ids', (all) => textArray(all, (settlement) => settlement.generationId)],
    ['p_organization_ids', (all) => textArray(all, (settlement) => settlement.organizationId)],
    ['p_costs', (all) => plainArray(all, (settlement) => settlement.costNanoUsd)],
    PRICES,
  ],
  NOW,
);

/** The error of settle_open_holds when a generation needs the slow path. */
const NO_MATCHING_HOLD = 'GW001';

const LOCK = {
  name: 'billing_ledger.lock_for_settlement',
  text: 'select * from lock_for_settlement($1, $2, $3)',
};

const POST = batchCall<DecidedSettlement>(
  'post_settlements',
  [
    ['p_generation_ids', (all) => textArray(all, (settlement) => settlement.generationId)],
    ['p_organization_ids', (all) => textArray(all, (settlement) => settlement.organizationId)],
    ['p_key_ids', (all) => textArray(all, (settlement) => settlement.keyId)],
    ['p_project_ids', (all) => textArray(all, (settlement) => settlement.projectId)],
    ['p_days', (all) => plainArray(all, (settlement) => settlement.day)],
    ['p_created_unix_ms', (all) => plainArray(all, (settlement) => settlement.createdAt)],
    ['p_has_hold', (all) => plainArray(all, (settlement) => settlement.origin !== 'no_hold')],
    ['p_releases', (all) => plainArray(all, (settlement) => settlement.releasedNanoUsd)],
    ['p_costs', (all) => plainArray(all, (settlement) => settlement.costNanoUsd)],
    ['p_charges', (all) => plainArray(all, (settlement) => settlement.chargedNanoUsd)],
    ['p_waived', (all) => plainArray(all, (settlement) => settlement.isWaived)],
    PRICES,
  ],
  NOW,
);

const CLOSE_CLAIMS = {
  name: 'billing_ledger.close_idempotency_claims',
  text: 'select close_idempotency_claims($1, $2, $3::bytea[], $4::bytea[], $5)',
};

interface LockedRow {
  readonly available_nano_usd: bigint;
  readonly hold_organization_id: string | null;
  readonly hold_state: StoredHold['state'];
  readonly hold_key_id: string;
  readonly hold_project_id: string | null;
  readonly hold_amount_nano_usd: bigint;
  readonly hold_day: UtcDay;
  readonly hold_prices: string;
  readonly claim_scope: string | null;
  readonly claim_state: StoredClaim['state'];
  readonly claim_generation_id: string;
}

export interface SettleInput {
  readonly generations: readonly FinishedGeneration[];
  readonly announce: Announce;
  readonly progress: ConsumerProgress | undefined;
  readonly appender: TransactionalAppender<PoolClient>;
  readonly nowUnixMs: UnixMs;
}

/** Tries the fast path in one round trip, then the slow path. */
export async function settleGenerations(pool: Pool, input: SettleInput): Promise<SettlementReport> {
  const predicted = predictSettlements(input.generations);
  if (predicted !== undefined && (await settleOpenHolds(pool, predicted, input))) {
    return { settlements: predicted, duplicates: 0, rejected: [] };
  }
  return lockAndSettle(pool, input);
}

/** Posts and announces. Returns false, with nothing done, when a generation needs the slow path. */
async function settleOpenHolds(
  pool: Pool,
  settlements: readonly Settlement[],
  { announce, progress, appender, nowUnixMs }: SettleInput,
): Promise<boolean> {
  const append = appender.appending(
    TOPIC_GENERATION_SETTLED,
    announcementsOf(settlements, announce, nowUnixMs),
  );
  const statement = {
    name: 'billing_ledger.settle_open_holds',
    text: `select ${SETTLE_OPEN_HOLDS.sql}`,
    values: SETTLE_OPEN_HOLDS.valuesOf(settlements, nowUnixMs),
  };
  try {
    await inOneRoundTrip(pool, (client) => [
      client.query(statement),
      ...(progress ? [progress.write(client)] : []),
      // Last, because the append locks the topic until the commit.
      append.write(client),
    ]);
    append.committed();
    progress?.committed();
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === NO_MATCHING_HOLD) return false;
    throw error;
  }
}

/** Locks and reads, decides, then posts and announces. */
async function lockAndSettle(pool: Pool, input: SettleInput): Promise<SettlementReport> {
  const { generations, announce, appender, nowUnixMs } = input;
  const { report, append, stored } = await inTwoRoundTrips(
    pool,
    (client) => lockForSettlement(client, generations),
    (locked) => {
      const { settlements, claimClosings, duplicates, rejected } = decideSettlements(generations, locked);
      const append = appender.appending(
        TOPIC_GENERATION_SETTLED,
        announcementsOf(settlements, announce, nowUnixMs),
      );
      const stored = rejected.length === 0 ? input.progress : undefined;
      return {
        result: { report: { settlements, duplicates, rejected }, append, stored },
        write: (client) => [
          ...(settlements.length > 0 ? [postSettlements(client, settlements, nowUnixMs)] : []),
          ...(claimClosings.length > 0 ? [closeClaims(client, claimClosings)] : []),
          ...(stored ? [stored.write(client)] : []),
          // Last, because the append locks the topic until the commit.
          ...(settlements.length > 0 ? [append.write(client)] : []),
        ],
      };
    },
  );
  append.committed();
  stored?.committed();
  return report;
}

function announcementsOf(
  settlements: readonly Settlement[],
  announce: Announce,
  nowUnixMs: UnixMs,
): Announcement[] {
  return settlements.map((settlement) => announce(settlement, nowUnixMs));
}

async function lockForSettlement(
  client: PoolClient,
  generations: readonly FinishedGeneration[],
): Promise<LockedGeneration[]> {
  const { rows } = await client.query<LockedRow>({
    values: [
      textArray(generations, (generation) => generation.generationId),
      textArray(generations, (generation) => generation.organizationId),
      textArray(generations, (generation) => generation.endedClaim?.scope),
    ],
    ...LOCK,
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

function holdOf(row: LockedRow, organizationId: string): StoredHold {
  return {
    organizationId,
    keyId: row.hold_key_id,
    projectId: row.hold_project_id ?? undefined,
    state: row.hold_state,
    amountNanoUsd: nanoUsd(row.hold_amount_nano_usd),
    day: row.hold_day,
    prices: row.hold_state === 'abandoned' ? undefined : decodePrices(row.hold_prices),
  };
}

async function postSettlements(
  client: PoolClient,
  settlements: readonly DecidedSettlement[],
  nowUnixMs: number,
) {
  await client.query({
    name: 'billing_ledger.post_settlements',
    text: `select ${POST.sql}`,
    values: POST.valuesOf(settlements, nowUnixMs),
  });
}

async function closeClaims(client: PoolClient, closings: readonly ClaimClosing[]) {
  await client.query({
    values: [
      textArray(closings, (closing) => closing.scope),
      textArray(closings, (closing) => closing.generationId),
      closings.map(({ response }) => bufferOrNull(response?.encrypted)),
      closings.map(({ response }) => bufferOrNull(response?.key)),
      CLAIM_RETENTION_MS,
    ],
    ...CLOSE_CLAIMS,
  });
}

function bufferOrNull(bytes: Uint8Array | undefined): Buffer | null {
  return bytes ? Buffer.from(bytes) : null;
}
