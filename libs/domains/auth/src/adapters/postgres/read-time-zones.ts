import type { Pool } from 'pg';

/** The time zones of people by their email, of those who have one. */
export async function readTimeZones(
  pool: Pool,
  emails: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const { rows } = await pool.query<{ email: string; time_zone: string }>(
    `select email, time_zone from members where email = any ($1::text[]) and time_zone <> ''`,
    [[...emails]],
  );
  return Object.fromEntries(rows.map((row) => [row.email, row.time_zone]));
}
