import type { Pool } from 'pg';

/** What a session of the ledger does: runs, or waits for the row of an account, the row of the topic, or the WAL. */
export const ACTIVITIES = ['running', 'account', 'topic', 'wal', 'other'] as const;
export type Activity = (typeof ACTIVITIES)[number];

/** Sessions by activity. */
export type Sessions = Record<Activity, number>;

const SAMPLE_EVERY_MS = 20;

const COUNT_SESSIONS = `
  select
    case
      when wait_event_type is null then 'running'
      when wait_event_type = 'Lock' and query like '%event_log.topics%' then 'topic'
      when wait_event_type = 'Lock' then 'account'
      when wait_event ilike 'wal%' then 'wal'
      else 'other'
    end as activity,
    count(*)::integer as sessions
  from pg_stat_activity
  where application_name = 'bench billing_ledger' and state = 'active'
  group by 1`;

/** Counts the sessions of the bench's ledger pool. Needs the superuser, who sees what others wait for. */
export async function countSessions(admin: Pool): Promise<Sessions> {
  const { rows } = await admin.query<{ activity: Activity; sessions: number }>(COUNT_SESSIONS);
  const counts = noSessions();
  for (const { activity, sessions } of rows) counts[activity] = sessions;
  return counts;
}

/** Samples until it is stopped; returns the averages. */
export function sampleWaits(admin: Pool): { stop(): Promise<Sessions> } {
  const sums = noSessions();
  let samples = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  async function sample(): Promise<void> {
    while (!stopped) {
      const counts = await countSessions(admin);
      samples += 1;
      for (const activity of ACTIVITIES) sums[activity] += counts[activity];
      await new Promise((resolve) => (timer = setTimeout(resolve, SAMPLE_EVERY_MS)));
    }
  }
  const sampling = sample();
  return {
    async stop() {
      stopped = true;
      await sampling;
      clearTimeout(timer);
      for (const activity of ACTIVITIES) sums[activity] /= samples;
      return sums;
    },
  };
}

function noSessions(): Sessions {
  return { running: 0, account: 0, topic: 0, wal: 0, other: 0 };
}
