import { formatUsd, nanoUsd } from '@gateway/base';
import type { KeyActivity } from '@gateway/contracts/generation-query';
import { isoTime } from './messages/views';
import type { DashboardApiPorts } from './ports';

/** A list of keys is of use without these figures, so it does not wait for them as long as for itself. */
const ACTIVITY_TIMEOUT_MS = 3_000;

/** When each key was last used and what it spent, by key id; null for all while the figures cannot be had. */
export async function activityOf(
  { generationReports, clock, log }: Pick<DashboardApiPorts, 'generationReports' | 'clock' | 'log'>,
  organizationId: string,
  keyIds: readonly string[],
) {
  if (keyIds.length === 0) return new Map<string, ReturnType<typeof activityView>>();
  const asked = { organizationId, keyIds: [...keyIds], nowUnixMs: BigInt(clock.now()) };
  try {
    const { keys } = await generationReports.getKeyActivity(asked, { timeoutMs: ACTIVITY_TIMEOUT_MS });
    return new Map(keys.map((key) => [key.keyId, activityView(key)]));
  } catch (error) {
    log.warn({ err: error, organizationId }, 'keys are listed without their activity');
    return new Map<string, ReturnType<typeof activityView>>();
  }
}

function activityView(activity: KeyActivity) {
  return {
    last_used_at: activity.lastUsedUnixMs === undefined ? null : isoTime(activity.lastUsedUnixMs),
    spend_today_usd: formatUsd(nanoUsd(activity.chargedTodayNanoUsd)),
    spend_this_month_usd: formatUsd(nanoUsd(activity.chargedThisMonthNanoUsd)),
  };
}
