import { parts } from '@gateway/dashboard-contract';
import type { DashboardApiPorts } from './ports';

/** Shorter than the default timeout, since keys can be listed without their activity. */
const ACTIVITY_TIMEOUT_MS = 3_000;

/** The last use and the spend of each key, by key id; empty while usage is unavailable. */
export async function activityOf(
  { owners, log }: Pick<DashboardApiPorts, 'owners' | 'log'>,
  organizationId: string,
  keyIds: readonly string[],
) {
  const request = { params: { organization_id: organizationId }, query: { key_ids: [...keyIds] } };
  const read = async () =>
    keyIds.length === 0
      ? []
      : (
          await owners['generation-query'].call(parts.keyActivity, request, {
            timeoutMs: ACTIVITY_TIMEOUT_MS,
          })
        ).data;
  const activities = await read().catch((error: unknown) => {
    log.warn({ err: error, organizationId }, 'listing keys without their activity');
    return [];
  });
  return new Map(activities.map((activity, index) => [keyIds[index] ?? '', activity]));
}
