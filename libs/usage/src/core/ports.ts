import type { SettledGeneration } from './settled-generation';
import type { UsageQuery, UsageRow } from './usage-report';

/** The write side. */
export interface SettlementStore {
  /**
   * Stores the generations and adds them to the rollups, all in one
   * transaction. Those stored before, or named twice, are left out, so that
   * recording again changes nothing.
   *
   * @returns how many were new.
   */
  record(generations: readonly SettledGeneration[]): Promise<number>;
}

/** The read side. */
export interface UsageReader {
  /** Undefined when unknown or of another organization. */
  findGeneration(organizationId: string, id: string): Promise<SettledGeneration | undefined>;
  /** Ordered by day, model, key; at most `maxRows`. */
  sumUsage(query: UsageQuery, maxRows: number): Promise<readonly UsageRow[]>;
}
