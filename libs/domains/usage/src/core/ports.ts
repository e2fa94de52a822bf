import type { ConsumerProgress, UnixMs } from '@gateway/base';
import type {
  ErrorCount,
  ErrorCountsQuery,
  RefusalReport,
  RefusedFilter,
  RefusedInOrganization,
  RefusedRequest,
} from './refusals';
import type { GenerationFinder } from './list-generations';
import type { Difference } from './reconciliation/compare';
import type { AnnouncedHour } from './reconciliation/settled-window';
import type { SettledGeneration, StoredGeneration } from './settled-generation';
import type { UsageQuery, UsageRow, ValueUsageQuery } from './usage-report';
import type { SeriesReader } from './usage-series';
import type { ModelUse, OrganizationUsage, PlatformUsage, UsageSummary } from './usage-summary';

/** The partitions of generations, one per UTC month of admission. */
export interface GenerationTables {
  /** Creates the partitions of this month and the next. Idempotent; safe to call from several processes. */
  prepare(now: UnixMs): Promise<void>;
  /** Drops partitions whose generations are all older. Rollups stay. @returns how many. */
  dropBefore(oldest: UnixMs): Promise<number>;
}

/** The write side. */
export interface SettlementStore extends GenerationTables {
  /**
   * Stores the generations and adds them to the rollups in one transaction.
   * Idempotent: skips generations that are stored already or repeated. Stores `progress`
   * in the same transaction.
   *
   * @returns how many were new.
   */
  record(generations: readonly StoredGeneration[], progress?: ConsumerProgress): Promise<number>;
}

/** The write side of refused requests. */
export interface RefusalStore {
  /**
   * Adds a report to the sums and keeps its latest requests, in one transaction.
   * Idempotent by reporter and number. @returns whether it was new.
   */
  record(report: RefusalReport, now: UnixMs): Promise<boolean>;
  /** Deletes sums and requests that are older. */
  deleteBefore(oldest: UnixMs): Promise<void>;
}

export interface ReconciliationRun {
  /** Announced hours that were compared. */
  readonly hours: number;
  /** The latest end of compared settlements; zero before the first run. */
  readonly comparedUntil: UnixMs;
  /** All current differences, oldest first, at most 1,000. */
  readonly differences: readonly Difference[];
}

/** Compares stored generations with the ledger's settlements, and sums with the rows that they summarize. */
export interface UsageReconciler {
  /**
   * Stores announced settlements until they match. All earlier settlements must be
   * recorded before this call. Idempotent.
   */
  storeAnnounced(announced: readonly AnnouncedHour[]): Promise<void>;
  /**
   * Compares up to `maxHours` announced hours in one snapshot. Those that differ are
   * compared again until they match. Undefined: another process is running it.
   */
  reconcile(maxHours: number): Promise<ReconciliationRun | undefined>;
}

/** An organization's usage today. */
interface UsageNow {
  readonly requests: bigint;
  readonly chargedNanoUsd: bigint;
  /** The settled generation that was admitted last. */
  readonly latestGenerationId: string | undefined;
}

/** The settled usage of one key. */
export interface KeyActivity {
  readonly keyId: string;
  /** When its latest request was admitted. */
  readonly lastUsedAt: UnixMs | undefined;
  readonly chargedTodayNanoUsd: bigint;
  readonly chargedThisMonthNanoUsd: bigint;
}

/** The results of reconciliation so far, for all organizations. */
export interface UsageReconciliation {
  /** The latest end of compared settlements; undefined before the first run. */
  readonly comparedUntil: UnixMs | undefined;
  /** The number of current differences, at most 1,000. */
  readonly knownDifferences: number;
  /** The oldest, at most 50. */
  readonly differences: readonly Difference[];
}

/** The read side. */
export interface UsageReader extends GenerationFinder, SeriesReader {
  readNow(organizationId: string, now: UnixMs): Promise<UsageNow>;
  /** Newest first. */
  listRefused(filter: RefusedFilter, limit: number): Promise<readonly RefusedRequest[]>;
  /** Most frequent first. */
  countErrors(query: ErrorCountsQuery): Promise<readonly ErrorCount[]>;
  readReconciliation(): Promise<UsageReconciliation>;
  /** In the order of `keyIds`. */
  readKeyActivity(
    organizationId: string,
    keyIds: readonly string[],
    now: UnixMs,
  ): Promise<readonly KeyActivity[]>;
  readSummary(organizationId: string, now: UnixMs): Promise<UsageSummary>;
  /** Only models that were used, by id. */
  readModelUse(modelIds: readonly string[], now: UnixMs): Promise<readonly ModelUse[]>;
  /** In the order of `organizationIds`. */
  readOrganizationUsage(
    organizationIds: readonly string[],
    now: UnixMs,
  ): Promise<readonly OrganizationUsage[]>;
  readPlatformUsage(now: UnixMs): Promise<PlatformUsage>;
  /** Undefined when unknown or of another organization. */
  findGeneration(organizationId: string, id: string): Promise<SettledGeneration | undefined>;
  /** Generations of all organizations with this id or request id, newest first, at most `limit`. */
  findGenerationsAnywhere(id: string, limit: number): Promise<readonly SettledGeneration[]>;
  /** Refused requests of all organizations with this id, newest first, at most `limit`. */
  findRefusedAnywhere(requestId: string, limit: number): Promise<readonly RefusedInOrganization[]>;
  /** Ordered by day, model, key; at most `maxRows`. */
  sumUsage(query: UsageQuery, maxRows: number): Promise<readonly UsageRow[]>;
  /** Ordered by day and value; at most `maxRows`. The sum of the rows is that of all generations. */
  sumUsageByValue(query: ValueUsageQuery, maxRows: number): Promise<readonly UsageRow[]>;
}
