import { formatUsd, nanoUsd } from '@gateway/base';
import type { KeyActivity } from '@gateway/contracts/generation-query';
import { timeOrNull } from './messages/views';
import type { DashboardApiPorts } from './ports';

/** Shorter than the default timeout, since keys can be listed without their activity. */
const ACTIVITY_TIMEOUT_MS = 3_000;

/** The last use and the spend of each key, by key id; empty while usage is unavailable. */
export async function activityOf(
  { generationReports, clock, log }: Pick<DashboardApiPorts, 'generationReports' | 'clock' | 'log'>,
  organizationId: string,
  keyIds: readonly string[],
) {
  if (keyIds.length === 0) return new Map<string, ReturnType<typeof activityView>>();
  const request = { organizationId, keyIds: [...keyIds], nowUnixMs: BigInt(clock.now()) };
  try {
    const { keys } = await generationReports.getKeyActivity(request, { timeoutMs: ACTIVITY_TIMEOUT_MS });
    return new Map(keys.map((key) => [key.keyId, activityView(key)]));
  } catch (error) {
    log.warn({ err: error, organizationId }, 'listing keys without their activity');
    return new Map<string, ReturnType<typeof activityView>>();
  }
}

function activityView(activity: KeyActivity) {
  return {
    last_used_at: timeOrNull(activity.lastUsedUnixMs),
    spend_today_usd: formatUsd(nanoUsd(activity.chargedTodayNanoUsd)),
    spend_this_month_usd: formatUsd(nanoUsd(activity.chargedThisMonthNanoUsd)),
  };
}
