import type { GenerationFilter, Place } from '../../core/list-generations';

/** Generations that one scan looks at; about ten milliseconds of one. */
export const MAX_SCANNED_ROWS = 10_000;

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What a filter comes to in SQL. */
export interface ScanStatements {
  /** The places of what matches, newest first. */
  readonly matches: Statement;
  /** The place of the last one that was looked at; no row when there were fewer than that. */
  readonly end: Statement;
  /** Whether rows that are looked at may not match, so that a scan can end before it found enough. */
  readonly mayStop: boolean;
}

/**
 * Walks one index back from a place. What the index cannot tell is looked for
 * among a bounded number of its entries, so that a rare match costs no more
 * than a frequent one.
 */
export function scanStatements(
  filter: GenerationFilter,
  after: Place | undefined,
  limit: number,
): ScanStatements {
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const walked = [`organization_id = ${value(filter.organizationId)}`];
  if (filter.since !== undefined) walked.push(`created_unix_ms >= ${value(filter.since)}`);
  if (filter.until !== undefined) walked.push(`created_unix_ms < ${value(filter.until)}`);
  // The first condition follows from the second; it lets the index begin at the place.
  if (after) {
    walked.push(`created_unix_ms <= ${value(after.created)}`);
    walked.push(`(created_unix_ms, id) < (${value(after.created)}, ${value(after.id)})`);
  }
  if (filter.keyId !== undefined) walked.push(`key_id = ${value(filter.keyId)}`);
  if (filter.externalUser !== undefined) walked.push(`external_user = ${value(filter.externalUser)}`);
  // Written out, so that the planner sees that the index of those that did not complete has them all.
  if (filter.status === 'cancelled' || filter.status === 'failed') walked.push(`status = '${filter.status}'`);
  const walk = `
    select id, created_unix_ms, model_id, status, cost_nano_usd
    from generations
    where ${walked.join(' and ')}
    order by created_unix_ms desc, id desc`;
  const walkedValues = [...values];

  const sifted: string[] = [];
  if (filter.status === 'completed') sifted.push(`status = 'completed'`);
  if (filter.modelId !== undefined) sifted.push(`model_id = ${value(filter.modelId)}`);
  if (filter.minCostNanoUsd !== undefined) sifted.push(`cost_nano_usd >= ${value(filter.minCostNanoUsd)}`);
  if (filter.maxCostNanoUsd !== undefined) sifted.push(`cost_nano_usd <= ${value(filter.maxCostNanoUsd)}`);
  return {
    mayStop: sifted.length > 0,
    matches: {
      text: `
  select id, created_unix_ms from (${walk} limit ${sifted.length > 0 ? MAX_SCANNED_ROWS : limit}) as walked
  ${sifted.length > 0 ? `where ${sifted.join(' and ')}` : ''}
  order by created_unix_ms desc, id desc
  limit ${limit}`,
      values,
    },
    end: { text: `${walk} offset ${MAX_SCANNED_ROWS - 1} limit 1`, values: walkedValues },
  };
}
