import type { UnixMs } from '@gateway/base';
import type { GenerationFinder } from './list-generations';
import type { Difference } from './reconciliation/compare';
import type { ToldHour } from './reconciliation/settled-window';
import type { SettledGeneration } from './settled-generation';
import type { UsageQuery, UsageRow } from './usage-report';
import type { SeriesReader } from './usage-series';

/** The tables that generations are kept in, one per UTC month of their admission. */
export interface GenerationTables {
  /** Makes those of this month and the next, so that settlements find theirs. Idempotent; any number of processes may call it. */
  prepare(now: UnixMs): Promise<void>;
  /** Drops those whose newest generation could only be older. Rollups stay. @returns how many. */
  dropBefore(oldest: UnixMs): Promise<number>;
}

/** The write side. */
export interface SettlementStore extends GenerationTables {
  /**
   * Stores the generations and adds them to the rollups, all in one
   * transaction. Those stored before, or named twice, are left out, so that
   * recording again changes nothing.
   *
   * @returns how many were new.
   */
  record(generations: readonly SettledGeneration[]): Promise<number>;
}

export interface ReconciliationRun {
  /** Hours that were compared with what the ledger says. */
  readonly hours: number;
  /** The latest end of what was ever compared; zero before the first time. */
  readonly comparedUntilUnixMs: UnixMs;
  /** All that are known, the oldest first, up to a thousand. */
  readonly differences: readonly Difference[];
}

/** Compares what is kept here with what the ledger says that it settled, and sums with what they are the sums of. */
export interface UsageReconciler {
  /**
   * Keeps what the ledger says until it is compared. Everything that was settled
   * before has to be recorded by then. Idempotent.
   */
  keep(told: readonly ToldHour[]): Promise<void>;
  /**
   * Compares up to `maxHours` of what was told, as of one moment, whatever is
   * recorded meanwhile; what differs is compared again until it does not.
   * Undefined: another process is at it.
   */
  reconcile(maxHours: number): Promise<ReconciliationRun | undefined>;
}

/** Today's figures of an organization. */
interface UsageNow {
  readonly requests: bigint;
  readonly chargedNanoUsd: bigint;
  /** The last admitted one that is settled. */
  readonly latestGenerationId: string | undefined;
}

/** What one key did, as far as it is settled. */
export interface KeyActivity {
  readonly keyId: string;
  /** When its last request was admitted. */
  readonly lastUsedAt: UnixMs | undefined;
  readonly chargedTodayNanoUsd: bigint;
  readonly chargedThisMonthNanoUsd: bigint;
}

/** What the comparisons with the settlements have found so far, in all organizations. */
export interface UsageReconciliation {
  /** The latest end of what was ever compared; undefined before the first time. */
  readonly comparedUntil: UnixMs | undefined;
  /** How many are known, up to a thousand. */
  readonly knownDifferences: number;
  /** The oldest of them, up to fifty. */
  readonly differences: readonly Difference[];
}

/** The read side. */
export interface UsageReader extends GenerationFinder, SeriesReader {
  readNow(organizationId: string, now: UnixMs): Promise<UsageNow>;
  readReconciliation(): Promise<UsageReconciliation>;
  /** In the order of the ids. */
  readKeyActivity(
    organizationId: string,
    keyIds: readonly string[],
    now: UnixMs,
  ): Promise<readonly KeyActivity[]>;
  /** Undefined when unknown or of another organization. */
  findGeneration(organizationId: string, id: string): Promise<SettledGeneration | undefined>;
  /** Ordered by day, model, key; at most `maxRows`. */
  sumUsage(query: UsageQuery, maxRows: number): Promise<readonly UsageRow[]>;
}
