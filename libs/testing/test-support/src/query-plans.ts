import type { ClientBase } from 'pg';

/** A plan node of EXPLAIN (ANALYZE, FORMAT JSON). */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops': number;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How one statement read one table. */
export interface TableRead {
  readonly table: string;
  /** Such as "Seq Scan" or "Index Scan". */
  readonly how: string;
  /** The index, when one was used. */
  readonly index: string | undefined;
  /** Rows read in all loops of the node, including rows removed by a filter. */
  readonly rows: number;
}

/**
 * Runs `work` and returns how each statement, including those inside functions, read its
 * tables. Nodes that never ran, such as pruned partitions, are omitted. Needs a
 * superuser's connection for auto_explain.
 */
export async function readsOf(client: ClientBase, work: () => Promise<unknown>): Promise<TableRead[]> {
  const reads: TableRead[] = [];
  const collect = ({ message }: { message: string | undefined }) => {
    const json = /^duration: .* plan:\n(\{.*)$/s.exec(message ?? '')?.[1];
    if (json) reads.push(...readsIn((JSON.parse(json) as { Plan: PlanNode }).Plan));
  };
  await client.query(`
    load 'auto_explain';
    set auto_explain.log_format = json;
    set auto_explain.log_level = notice;
    set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_nested_statements = on`);
  client.on('notice', collect);
  try {
    await client.query('set auto_explain.log_min_duration = 0');
    await work();
  } finally {
    client.off('notice', collect);
    await client.query('set auto_explain.log_min_duration = -1');
  }
  return reads;
}

function readsIn(node: PlanNode): TableRead[] {
  const inner = (node.Plans ?? []).flatMap(readsIn);
  const { 'Relation Name': table, 'Node Type': how, 'Index Name': index, 'Actual Loops': loops } = node;
  if (table === undefined || !how.includes('Scan') || loops === 0) return inner;
  const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * loops;
  return [{ table, how, index, rows }, ...inner];
}
