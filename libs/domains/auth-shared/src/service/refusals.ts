import { DashboardError } from '@gateway/dashboard-contract';
import { isRefusal } from '@gateway/errors';
import type { AdminRefusal } from '../core/admin-refusal';

/** The value of a change that was not refused. @throws DashboardError for a refusal. */
export function accepted<Value>(result: Value): Exclude<Value, AdminRefusal> {
  if (isRefusal(result)) throw errorOf(result as unknown as AdminRefusal);
  return result as Exclude<Value, AdminRefusal>;
}

/** The same, with the current state of what another person has changed. */
export async function acceptedOrCurrent<Value>(
  result: Value | AdminRefusal,
  current: () => Promise<unknown>,
): Promise<Exclude<Value, AdminRefusal>> {
  const isStale = isRefusal(result) && (result as AdminRefusal).reason === 'version_conflict';
  if (isStale) throw new DashboardError('version_conflict', { metadata: { current: await current() } });
  return accepted(result) as Exclude<Value, AdminRefusal>;
}

function errorOf({ reason, message, field: param, retryAfterMs }: AdminRefusal): DashboardError {
  const code = reason === 'not_configured' ? 'conflict' : reason;
  return new DashboardError(code, { message, param, retryAfterMs });
}
