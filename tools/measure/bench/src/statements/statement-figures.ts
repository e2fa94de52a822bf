import { createPool } from '@gateway/database';
import { renderTable } from '../report';

/** PostgreSQL's statistics of one statement. */
export interface StatementCount {
  readonly query: string;
  readonly calls: number;
  readonly milliseconds: number;
  readonly rows: number;
}

const NAME_CHARACTERS = 70;
const SHOWN = 25;

/** Server settings that preload the extension; `startCounting` creates it. */
export const STATEMENT_SETTINGS = { shared_preload_libraries: 'pg_stat_statements' };

/** Resets the statistics. Needs the superuser, the only role that sees the statements of all roles. */
export async function startCounting(adminUrl: string): Promise<{ read(): Promise<StatementCount[]> }> {
  const run = async <Row extends object>(text: string): Promise<Row[]> => {
    const pool = createPool({
      url: adminUrl,
      schema: 'public',
      applicationName: 'bench statements',
      maxConnections: 1,
    });
    try {
      return (await pool.query<Row>(text)).rows;
    } finally {
      await pool.end();
    }
  };
  await run('create extension if not exists pg_stat_statements schema public');
  await run('select public.pg_stat_statements_reset()');
  return {
    read: () =>
      run<StatementCount>(`
        select query, sum(calls)::float8 as calls, sum(total_exec_time)::float8 as milliseconds, sum(rows)::float8 as rows
        from public.pg_stat_statements where query not like '%pg_stat_statements%' group by query`),
  };
}

/** Statistics per request, in descending order of time. */
export function renderStatements(counts: readonly StatementCount[], requests: number): string {
  const sorted = [...counts].sort((a, b) => b.milliseconds - a.milliseconds);
  const sum = (value: (count: StatementCount) => number) =>
    counts.reduce((total, count) => total + value(count), 0);
  const line = (name: string, calls: number, milliseconds: number, rows: number) => [
    ...[name, '', (calls / requests).toFixed(3), ((milliseconds * 1_000) / requests).toFixed(1)],
    ...[calls === 0 ? '' : ((milliseconds * 1_000) / calls).toFixed(0), (rows / requests).toFixed(2)],
  ];
  return renderTable([
    ['statement', '', 'calls/req', 'µs/req', 'µs/call', 'rows/req'],
    ...sorted
      .slice(0, SHOWN)
      .map(({ query, calls, milliseconds, rows }) => line(nameOf(query), calls, milliseconds, rows)),
    line(
      'all',
      sum(({ calls }) => calls),
      sum(({ milliseconds }) => milliseconds),
      sum(({ rows }) => rows),
    ),
  ]);
}

/** A statement on one line. */
export function nameOf(query: string): string {
  return query.replaceAll(/\s+/g, ' ').trim().slice(0, NAME_CHARACTERS);
}
