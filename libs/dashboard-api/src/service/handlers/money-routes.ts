import { createHash } from 'node:crypto';
import { formatUsd } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { RpcError } from '@gateway/rpc';
import { Router, type Request } from 'express';
import { DashboardError } from '../../core/dashboard-error';
import { addCreditBody } from '../messages/bodies';
import type { DashboardApiPorts } from '../ports';
import { balanceView } from '../messages/views';
import { requireOrganization } from './organization-routes';
import { actorOf, pathParameter, readBody } from '../http/request';

export function createMoneyRoutes(ports: DashboardApiPorts): Router {
  const { authAdmin, ledger, log } = ports;
  const router = Router();

  router.get('/organizations/:organizationId/balance', async (request, response) => {
    const organizationId = pathParameter(request, 'organizationId');
    await requireOrganization(ports, organizationId);
    response.json({ balance: balanceView(await ledger.getBalance({ organizationId })) });
  });

  router.post('/organizations/:organizationId/credits', async (request, response) => {
    const organizationId = pathParameter(request, 'organizationId');
    const { amount_usd: amountNanoUsd, note } = readBody(request, addCreditBody);
    const creditId = creditIdOf(ports, request, organizationId);
    const actor = actorOf(response);
    await requireOrganization(ports, organizationId);

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
      response.status(201).json({
        credit: { id: creditId, amount_usd: details.amount_usd, note: details.note },
        balance: balanceView(balance),
      });
    } catch (error) {
      // Only a definite refusal is noted as failed: after a lost connection the credit may be there.
      if (error instanceof GatewayError && !(error instanceof RpcError) && error.code === 'invalid_request') {
        await completeAudit(false);
        throw creditRefusal(error);
      }
      throw error;
    }
  });

  return router;
}

/** The same header gives the same credit, however often it is sent. */
function creditIdOf({ newId }: DashboardApiPorts, request: Request, organizationId: string): string {
  const header = request.get('idempotency-key');
  if (header === undefined) return newId('crd');
  if (!/^[\x20-\x7e]{1,255}$/.test(header)) {
    throw new DashboardError('invalid', {
      message: 'Idempotency-Key must be 1 to 255 printable characters.',
      param: 'Idempotency-Key',
    });
  }
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
