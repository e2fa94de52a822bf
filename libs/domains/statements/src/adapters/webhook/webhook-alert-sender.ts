import { formatUsd } from '@gateway/base';
import { WebhookNotDeliveredError, type WebhookSender } from '@gateway/webhooks';
import type { DueAlert, TestAlert } from '../../core/credit-alert';
import { AlertNotDeliveredError, type AlertSender } from '../../core/ports';

/** Sends an alert to its webhook. */
export function createWebhookAlertSender(webhooks: WebhookSender): AlertSender {
  return {
    async send(alert) {
      const { webhookUrl: url, webhookSecret: secret } = alert;
      if (url === undefined) return;
      if (secret === undefined)
        throw new AlertNotDeliveredError(
          'The signing secret of the webhook cannot be read. Remove the webhook and set it again.',
        );
      try {
        await webhooks.send({ url, secret }, 'testedAt' in alert ? testOf(alert) : messageOf(alert));
      } catch (error) {
        if (!(error instanceof WebhookNotDeliveredError)) throw error;
        throw new AlertNotDeliveredError(error.message, { cause: error });
      }
    },
  };
}

function messageOf(alert: DueAlert) {
  return {
    event: 'credit.low_balance',
    // The same for every attempt, so that receivers can deduplicate.
    id: `${alert.organizationId}.${alert.belowSince}`,
    organization_id: alert.organizationId,
    available_usd: formatUsd(alert.availableNanoUsd),
    threshold_usd: formatUsd(alert.thresholdNanoUsd),
    since: new Date(alert.belowSince).toISOString(),
  };
}

/** Another event, since receivers may react to a low balance, for example by buying credit. */
function testOf({ organizationId, testedAt }: TestAlert) {
  return {
    event: 'alert.test',
    id: `${organizationId}.test.${testedAt}`,
    organization_id: organizationId,
    sent_at: new Date(testedAt).toISOString(),
  };
}
