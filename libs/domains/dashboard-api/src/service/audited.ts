import type { Actor } from '@gateway/contracts/auth';
import { DashboardError } from './dashboard-error';
import type { DashboardApiPorts } from './ports';

export interface AuditedChange {
  readonly actor: Actor;
  /** The organization whose audit log shows the entry; absent: only the platform audit log does. */
  readonly organizationId?: string;
  /** The audit action, such as "dead_letter.discard". */
  readonly action: string;
  readonly target: string;
  readonly details: object;
}

/**
 * Changes another domain between an audit entry `started` and its completion. Only a refusal (a
 * DashboardError) is recorded as `failed`. After any other error the outcome is unknown, so the entry
 * stays `started`.
 */
export async function audited<Result>(
  { authAdmin, log }: Pick<DashboardApiPorts, 'authAdmin' | 'log'>,
  { actor, organizationId, action, target, details }: AuditedChange,
  change: () => Promise<Result>,
): Promise<Result> {
  const { auditId } = await authAdmin.recordAudit({
    actor,
    organizationId,
    action,
    target,
    detailsJson: JSON.stringify(details),
  });
  const complete = (succeeded: boolean) =>
    authAdmin
      .completeAudit({ auditId, succeeded })
      // The change has been made; its entry stays "started".
      .catch((error: unknown) => log.error({ err: error, auditId }, 'could not complete an audit entry'));
  try {
    const result = await change();
    await complete(true);
    return result;
  } catch (error) {
    if (error instanceof DashboardError) await complete(false);
    throw error;
  }
}
