import type { Actor } from '@gateway/contracts/auth';
import { DashboardError } from './dashboard-error';
import type { DashboardApiPorts } from './ports';

export interface AuditedChange {
  readonly actor: Actor;
  /** Whose log shows it beside that of everything; absent: nobody's. */
  readonly organizationId?: string;
  /** Such as "dead_letter.discard". */
  readonly action: string;
  readonly target: string;
  readonly details: object;
}

/**
 * Makes a change of another domain between an audit entry `started` and its
 * completion. Only a refusal (a DashboardError) is noted as `failed`; after any
 * other failure nobody knows, so the entry stays `started`.
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
      // The change stands as it is; its entry stays "started".
      .catch((error: unknown) => log.error({ err: error, auditId }, 'cannot note how a change went'));
  try {
    const result = await change();
    await complete(true);
    return result;
  } catch (error) {
    if (error instanceof DashboardError) await complete(false);
    throw error;
  }
}
