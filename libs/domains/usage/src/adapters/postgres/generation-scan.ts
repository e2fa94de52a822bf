import type { GenerationFilter, GenerationCursor } from '../../core/list-generations';

/** Generations read per scan, which takes about 10 ms. */
export const MAX_SCANNED_ROWS = 10_000;

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The SQL of a filter. */
export interface ScanStatements {
  /** The cursors of matching generations, newest first. */
  readonly matches: Statement;
  /** The cursor of the last row read by a full scan; no row if the scan reached the end. */
  readonly end: Statement;
  /** Whether scanned rows may not match, so that a scan can stop before the page is full. */
  readonly mayStop: boolean;
}

/**
 * Scans one index backwards from a cursor. Conditions outside the index filter a
 * limited number of its rows, so that a rare match costs no more than a frequent one.
 */
export function scanStatements(
  filter: GenerationFilter,
  after: GenerationCursor | undefined,
  limit: number,
): ScanStatements {
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const indexed = [`organization_id = ${value(filter.organizationId)}`];
  if (filter.since !== undefined) indexed.push(`created_unix_ms >= ${value(filter.since)}`);
  if (filter.until !== undefined) indexed.push(`created_unix_ms < ${value(filter.until)}`);
  // The first condition is redundant, but lets the index scan start at the cursor.
  if (after) {
    indexed.push(`created_unix_ms <= ${value(after.createdAt)}`);
    indexed.push(`(created_unix_ms, id) < (${value(after.createdAt)}, ${value(after.id)})`);
  }
  if (filter.keyId !== undefined) indexed.push(`key_id = ${value(filter.keyId)}`);
  if (filter.externalUser !== undefined) indexed.push(`external_user = ${value(filter.externalUser)}`);
  // As a literal, so that the planner can use the partial index of generations that did not complete.
  const status = filter.errorCode === undefined ? filter.status : 'failed';
  if (status === 'cancelled' || status === 'failed') indexed.push(`status = '${status}'`);
  const scan = `
    select id, created_unix_ms, model_id, status, api_type, error_code, project_id, cost_nano_usd, tags
    from generations
    where ${indexed.join(' and ')}
    order by created_unix_ms desc, id desc`;
  const scanValues = [...values];

  const filtered: string[] = [];
  if (filter.errorCode !== undefined) {
    filtered.push(`error_code = ${value(filter.errorCode)}`);
    if (filter.status !== undefined && filter.status !== 'failed') filtered.push('false');
  }
  if (status === 'completed') filtered.push(`status = 'completed'`);
  if (filter.modelId !== undefined) filtered.push(`model_id = ${value(filter.modelId)}`);
  if (filter.projectId !== undefined) filtered.push(`project_id = ${value(filter.projectId)}`);
  if (filter.apiType !== undefined) filtered.push(`api_type = ${value(filter.apiType)}`);
  if (filter.tag !== undefined)
    filtered.push(`tags ->> ${value(filter.tag.name)} = ${value(filter.tag.value)}`);
  if (filter.minCostNanoUsd !== undefined) filtered.push(`cost_nano_usd >= ${value(filter.minCostNanoUsd)}`);
  if (filter.maxCostNanoUsd !== undefined) filtered.push(`cost_nano_usd <= ${value(filter.maxCostNanoUsd)}`);
  return {
    mayStop: filtered.length > 0,
    matches: {
      text: `
  select id, created_unix_ms from (${scan} limit ${filtered.length > 0 ? MAX_SCANNED_ROWS : limit}) as scanned
  ${filtered.length > 0 ? `where ${filtered.join(' and ')}` : ''}
  order by created_unix_ms desc, id desc
  limit ${limit}`,
      values,
    },
    end: { text: `${scan} offset ${MAX_SCANNED_ROWS - 1} limit 1`, values: scanValues },
  };
}
