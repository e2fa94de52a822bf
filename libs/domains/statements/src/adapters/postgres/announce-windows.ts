import { HOUR_MS, nanoUsd, type UnixMs } from '@gateway/base';
import { inTransaction } from '@gateway/database';
import { TOPIC_GENERATION_SETTLED, type TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import type { AnnounceWindow } from '../../core/ports';
import type { SettledHour, SettledWindow } from '../../core/settled-window';

const ANNOUNCE = {
  name: 'billing_ledger.announce_settlement_windows',
  text: 'select * from announce_settlement_windows($1, $2)',
};

/** An organization and an hour of admission; no hour if nothing was settled. */
type WindowRow = {
  readonly organization_id: string;
  readonly from_unix_ms: bigint;
  readonly until_unix_ms: bigint;
} & (
  | { readonly hour_unix_ms: null }
  | {
      readonly hour_unix_ms: bigint;
      readonly generations: bigint;
      readonly cost_nano_usd: bigint;
      readonly charged_nano_usd: bigint;
    }
);

export interface AnnounceWindowsPorts {
  readonly pool: Pool;
  readonly appender: TransactionalAppender<PoolClient>;
}

export interface AnnounceWindowsInput {
  /** No running transaction can post anything before this time. */
  readonly untilUnixMs: number;
  readonly limit: number;
  readonly announce: AnnounceWindow;
}

/** Records and announces the next windows in one transaction. Returns their number. */
export async function announceWindows(
  { pool, appender }: AnnounceWindowsPorts,
  { untilUnixMs, limit, announce }: AnnounceWindowsInput,
): Promise<number> {
  const fullHourUnixMs = Math.floor(untilUnixMs / HOUR_MS) * HOUR_MS;
  const { count, append } = await inTransaction(
    pool,
    async (client) => {
      const { rows } = await client.query<WindowRow>({ ...ANNOUNCE, values: [fullHourUnixMs, limit] });
      const windows = windowsOf(rows);
      const append = appender.appending(TOPIC_GENERATION_SETTLED, windows.map(announce));
      if (windows.length > 0) await append.write(client);
      return { count: windows.length, append };
    },
    { maxAttempts: 1 },
  );
  append.committed();
  return count;
}

/** Expects the rows of an organization to be consecutive. */
function windowsOf(rows: readonly WindowRow[]): SettledWindow[] {
  const windows: (SettledWindow & { readonly hours: SettledHour[] })[] = [];
  for (const row of rows) {
    let window = windows.at(-1);
    if (window?.organizationId !== row.organization_id) {
      window = {
        organizationId: row.organization_id,
        from: Number(row.from_unix_ms) as UnixMs,
        until: Number(row.until_unix_ms) as UnixMs,
        hours: [],
      };
      windows.push(window);
    }
    if (row.hour_unix_ms === null) continue;
    window.hours.push({
      startsAt: Number(row.hour_unix_ms) as UnixMs,
      generations: row.generations,
      costNanoUsd: nanoUsd(row.cost_nano_usd),
      chargedNanoUsd: nanoUsd(row.charged_nano_usd),
    });
  }
  return windows;
}
