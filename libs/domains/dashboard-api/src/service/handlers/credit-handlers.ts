import { createHash } from 'node:crypto';
import { formatUsd } from '@gateway/base';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { GatewayError } from '@gateway/errors';
import { RpcError } from '@gateway/rpc';
import { implement, type Implementation } from '../http/implement';
import { balanceView, lowBalanceView } from '../messages/credit-views';
import type { DashboardApiPorts } from '../ports';

export function createCreditHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, ledger, ledgerAdmin, newId } = ports;

  async function readBalance(organizationId: string) {
    const [balance, { alert }] = await Promise.all([
      ledger.getBalance({ organizationId }),
      ledgerAdmin.getCreditAlert({ organizationId }),
    ]);
    return { balance: balanceView(balance), low_balance: lowBalanceView(alert, balance) };
  }

  return [
    implement(endpoints.credit.balance, ({ params }) => readBalance(params.organization_id)),

    implement(endpoints.credit.live, async ({ params }) => {
      const [balance, now] = await Promise.all([
        readBalance(params.organization_id),
        owners['generation-query'].call(parts.usageNow, { params }),
      ]);
      return { ...balance, ...now };
    }),

    implement(endpoints.credit.add, async ({ params, body, headers }) => {
      const organizationId = params.organization_id;
      const { amount_usd: amountNanoUsd, note } = body;
      const header = headers['idempotency-key'];
      const creditId = header === undefined ? newId('crd') : creditIdOf(organizationId, header);
      const { balance } = await ledger
        .addCredit({ creditId, organizationId, amountNanoUsd, note: note ?? '' })
        .catch((error: unknown) => {
          throw creditRefusal(error);
        });
      if (!balance) throw new Error('the ledger response has no balance');
      return {
        credit: { id: creditId, amount_usd: formatUsd(amountNanoUsd), note: note ?? null },
        balance: balanceView(balance),
      };
    }),
  ];
}

/** Derives the credit id, so that a repeated header adds the credit once. */
function creditIdOf(organizationId: string, header: string): string {
  const hash = createHash('sha256').update(`${organizationId}\n${header}`).digest('hex');
  return `crd-${hash.slice(0, 32)}`;
}

/** Maps definite refusals only: after a lost connection the credit may have been added. */
function creditRefusal(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error instanceof RpcError || error.code !== 'invalid_request')
    return error;
  if (error.param !== 'credit_id')
    return new DashboardError('invalid', { message: error.message, cause: error });
  return new DashboardError('conflict', {
    message: 'This Idempotency-Key was already used with a different amount.',
    param: 'Idempotency-Key',
  });
}
