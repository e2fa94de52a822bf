import { isoTime, usd } from '@gateway/admin-calls';
import { formatUsd, nanoUsd } from '@gateway/base';
import { CorrectionRefusal, type CorrectionRefused } from '@gateway/contracts/billing-ledger';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { balanceView } from '../messages/credit-views';
import type { DashboardApiPorts } from '../ports';

/** A correction needs a preview, whose token confirms exactly that amount and reason. */
export function createCorrectionHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { ledgerAdmin } = ports;
  return [
    implement(endpoints.credit.previewCorrection, async ({ params, body }) => {
      const { outcome } = await ledgerAdmin.previewCorrection({
        organizationId: params.organization_id,
        amountNanoUsd: body.amount_usd,
        note: body.reason,
      });
      if (outcome?.$case !== 'preview') throw refusal(outcome?.value);
      const { correctionId, before, after, expiresUnixMs } = outcome.value;
      return {
        before: balanceView(before),
        after: balanceView(after),
        confirmation_token: correctionId,
        expires_at: isoTime(expiresUnixMs),
      };
    }),

    implement(endpoints.credit.correct, async ({ params, body }) => {
      const organizationId = params.organization_id;
      const { amount_usd: amountNanoUsd, reason, confirmation_token: correctionId } = body;
      const amountUsd = formatUsd(nanoUsd(-amountNanoUsd));
      const correction = { correctionId, organizationId, amountNanoUsd, note: reason };
      const { outcome } = await ledgerAdmin.correctCredit(correction);
      if (outcome?.$case !== 'corrected') throw refusal(outcome?.value);
      return {
        correction: { id: correctionId, amount_usd: amountUsd, reason },
        balance: balanceView(outcome.value),
      };
    }),
  ];
}

function refusal(refused: CorrectionRefused | undefined): DashboardError {
  if (!refused) throw new Error('the ledger response has no outcome');
  switch (refused.reason) {
    case CorrectionRefusal.CORRECTION_REFUSAL_INSUFFICIENT:
      return new DashboardError('conflict', {
        message: `Only ${usd(refused.availableNanoUsd)} US dollars are available.`,
        param: 'amount_usd',
        metadata: { available_usd: usd(refused.availableNanoUsd) },
      });
    case CorrectionRefusal.CORRECTION_REFUSAL_UNKNOWN:
      return new DashboardError('conflict', {
        message: 'The preview has expired. Preview the correction again.',
        param: 'confirmation_token',
      });
    case CorrectionRefusal.CORRECTION_REFUSAL_DIFFERENT:
      return new DashboardError('conflict', {
        message: 'The amount or the reason has changed since the preview. Preview the correction again.',
        param: 'confirmation_token',
      });
    default:
      throw new Error(`unknown refusal of a correction: ${refused.reason}`);
  }
}
