import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { creditAlertView } from '../messages/credit-views';
import { throwIfRefused } from '../messages/errors';
import type { DashboardApiPorts } from '../ports';

/** A test waits for its deliveries. */
const TEST_TIMEOUT_MS = 25_000;

export function createCreditAlertHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { authAdmin, ledgerAdmin } = ports;

  /** Alerts go to addresses without verification. Setting an alert may send one too. */
  const countEmails = async (organizationId: string, recipients: readonly string[]) => {
    if (recipients.length === 0) return;
    const { refusal } = await authAdmin.countEmails({ organizationId, recipients: [...recipients] });
    throwIfRefused(refusal);
  };

  return [
    implement(endpoints.credit.alert, async ({ params }) => {
      const { alert } = await ledgerAdmin.getCreditAlert({ organizationId: params.organization_id });
      return { alert: creditAlertView(alert) };
    }),

    implement(endpoints.credit.setAlert, async ({ params, body }) => {
      const organizationId = params.organization_id;
      const {
        threshold_usd: thresholdNanoUsd,
        webhook_url: webhookUrl,
        emails,
        budget_shares: percent,
      } = body;
      if (thresholdNanoUsd !== null) await countEmails(organizationId, emails);
      const { alert, webhookSecret } = await ledgerAdmin.setCreditAlert({
        organizationId,
        thresholdNanoUsd: thresholdNanoUsd ?? undefined,
        webhookUrl: webhookUrl ?? undefined,
        keepWebhook: webhookUrl === undefined,
        emails,
        budgetShares: percent && { percent },
      });
      return { alert: creditAlertView(alert), webhook_secret: webhookSecret ?? null };
    }),

    implement(endpoints.credit.testAlert, async ({ params }) => {
      const organizationId = params.organization_id;
      const { alert } = await ledgerAdmin.getCreditAlert({ organizationId });
      await countEmails(organizationId, alert?.emails ?? []);
      const { hasRecipient, failure } = await ledgerAdmin.testCreditAlert(
        { organizationId },
        { timeoutMs: TEST_TIMEOUT_MS },
      );
      if (!hasRecipient) {
        throw new DashboardError('conflict', {
          message: 'The alert has no recipients. Add a webhook or an email address first.',
        });
      }
      return { delivered: failure === undefined, failure: failure ?? null };
    }),
  ];
}
