import { formatUsd } from '@gateway/base';
import type { WebhookSender } from '@gateway/webhooks';
import { ownerKindOf, WEBHOOK_RECIPIENT, type DueBudgetAlert } from '../core/budget-alert';
import type { BudgetAlertSender } from '../core/ports';
import type { AlertMailer } from './mail/mail-alert-sender';

interface BudgetAlertSenderPorts {
  readonly webhooks: WebhookSender;
  readonly mailer: AlertMailer | undefined;
}

/** Sends an alert to its recipient. A webhook that was removed meanwhile gets nothing. */
export function createBudgetAlertSender({ webhooks, mailer }: BudgetAlertSenderPorts): BudgetAlertSender {
  return {
    async send(alert) {
      if (alert.recipient === WEBHOOK_RECIPIENT) {
        if (alert.webhook) await webhooks.send(alert.webhook, messageOf(alert));
      } else {
        if (!mailer) throw new Error('no mail server is configured');
        await mailer.send({ to: alert.recipient, ...textOf(alert) });
      }
    },
  };
}

function messageOf(alert: DueBudgetAlert) {
  return {
    event: 'budget.share_reached',
    // The same for every attempt, so that receivers can deduplicate.
    id: alert.alertId,
    organization_id: alert.organizationId,
    scope: ownerKindOf(alert),
    owner_id: alert.ownerId || alert.organizationId,
    owner_name: alert.ownerName,
    limit_type: LIMIT_TYPES[alert.period],
    period_start: alert.periodStart || null,
    share_percent: alert.sharePercent,
    budget_usd: formatUsd(alert.budgetNanoUsd),
    spent_usd: formatUsd(alert.spentNanoUsd),
    reached_at: new Date(alert.reachedAt).toISOString(),
  };
}

/** As in the errors of the public API. */
const LIMIT_TYPES = { day: 'daily_budget', month: 'monthly_budget', total: 'total_budget' } as const;

function textOf(alert: DueBudgetAlert) {
  const owner = `${ownerKindOf(alert)} ${alert.ownerName}`;
  const budget = LIMIT_TYPES[alert.period].replace('_', ' ');
  return {
    subject: `${alert.sharePercent} % of the ${budget} of ${owner} is spent`,
    text: [
      `The ${owner} has spent ${formatUsd(alert.spentNanoUsd)} of its ${budget} of`,
      `${formatUsd(alert.budgetNanoUsd)} US dollars${alert.periodStart && ` (${alert.periodStart}, UTC)`}.`,
      '',
      `Organization: ${alert.organizationId}`,
      'Requests that the rest of a budget does not cover are refused.',
      '',
    ].join('\n'),
  };
}
