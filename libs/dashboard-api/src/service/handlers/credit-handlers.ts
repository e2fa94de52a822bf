import { createHash } from 'node:crypto';
import { formatUsd } from '@gateway/base';
import { endpoints } from '@gateway/dashboard-contract';
import { GatewayError } from '@gateway/errors';
import { RpcError } from '@gateway/rpc';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { balanceView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

export function createCreditHandlers({
  authAdmin,
  ledger,
  log,
  newId,
}: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.credit.balance, async ({ params }) => {
      const organizationId = params.organization_id;
      return { balance: balanceView(await ledger.getBalance({ organizationId })), running_low: null };
    }),

    implement(endpoints.credit.add, async ({ params, body, headers, actor }) => {
      const organizationId = params.organization_id;
      const { amount_usd: amountNanoUsd, note } = body;
      const header = headers['idempotency-key'];
      const creditId = header === undefined ? newId('crd') : creditIdOf(organizationId, header);

      const details = { amount_usd: formatUsd(amountNanoUsd), note: note ?? null };
      const { auditId } = await authAdmin.recordAudit({
        actor,
        organizationId,
        action: 'credit.add',
        target: creditId,
        detailsJson: JSON.stringify(details),
      });
      const completeAudit = (succeeded: boolean): Promise<void> =>
        authAdmin.completeAudit({ auditId, succeeded }).then(
          () => undefined,
          // The credit stands as it is; its entry stays "started", which says that nobody knows.
          (error: unknown) => log.error({ err: error, auditId }, 'cannot note how a credit went'),
        );
      try {
        const { balance } = await ledger.addCredit({
          creditId,
          organizationId,
          amountNanoUsd,
          note: note ? `${actor.label}: ${note}` : actor.label,
        });
        if (!balance) throw new Error('the ledger answered without a balance');
        await completeAudit(true);
        return {
          credit: { id: creditId, amount_usd: details.amount_usd, note: details.note },
          balance: balanceView(balance),
        };
      } catch (error) {
        // Only a definite refusal is noted as failed: after a lost connection the credit may be there.
        if (
          error instanceof GatewayError &&
          !(error instanceof RpcError) &&
          error.code === 'invalid_request'
        ) {
          await completeAudit(false);
          throw creditRefusal(error);
        }
        throw error;
      }
    }),
  ];
}

/** The same header gives the same credit, however often it is sent. */
function creditIdOf(organizationId: string, header: string): string {
  const hash = createHash('sha256').update(`${organizationId}\n${header}`).digest('hex');
  return `crd-${hash.slice(0, 32)}`;
}

function creditRefusal(error: GatewayError): DashboardError {
  if (error.param !== 'credit_id')
    return new DashboardError('invalid', { message: error.message, cause: error });
  return new DashboardError('conflict', {
    message: 'This Idempotency-Key was used before with another amount.',
    param: 'Idempotency-Key',
  });
}
