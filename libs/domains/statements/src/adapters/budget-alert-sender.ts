import { formatUsd, mailTime, mailUsd, type Mailer, type MailContent } from '@gateway/base';
import type { WebhookSender } from '@gateway/webhooks';
import { ownerKindOf, WEBHOOK_RECIPIENT, type DueBudgetAlert } from '../core/budget-alert';
import type { BudgetAlertSender } from '../core/ports';
import type { AlertPages } from './mail/alert-pages';

interface BudgetAlertSenderPorts {
  readonly webhooks: WebhookSender;
  readonly mailer: Mailer | undefined;
  readonly pages: AlertPages;
}

/** Sends an alert to its recipient. A webhook that was removed meanwhile gets nothing. */
export function createBudgetAlertSender({
  webhooks,
  mailer,
  pages,
}: BudgetAlertSenderPorts): BudgetAlertSender {
  return {
    async send(alert) {
      if (alert.recipient === WEBHOOK_RECIPIENT) {
        if (alert.webhook) await webhooks.send(alert.webhook, messageOf(alert));
      } else {
        if (!mailer) throw new Error('no mail server is configured');
        const [name, zones] = await Promise.all([
          pages.nameOf(alert.organizationId),
          pages.timeZonesOf([alert.recipient]),
        ]);
        const reachedAt = mailTime(alert.reachedAt, zones[alert.recipient]);
        await mailer.send({ to: alert.recipient, ...mailOf(alert, name, reachedAt, pages) });
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
    scope: alert.endUserCount === undefined ? ownerKindOf(alert) : 'end_user',
    owner_id: alert.ownerId || alert.organizationId,
    owner_name: alert.ownerName,
    limit_type: LIMIT_TYPES[alert.period],
    hours: alert.hours ?? null,
    model: alert.model ?? null,
    period_start: alert.periodStart || null,
    share_percent: alert.sharePercent,
    budget_usd: formatUsd(alert.budgetNanoUsd),
    spent_usd: formatUsd(alert.spentNanoUsd),
    reached_at: new Date(alert.reachedAt).toISOString(),
    end_user_count: alert.endUserCount ?? null,
    end_users:
      alert.endUserCount === undefined
        ? null
        : alert.endUsers.map(({ endUser, spentNanoUsd }) => ({
            end_user: endUser || null,
            spent_usd: formatUsd(spentNanoUsd),
          })),
  };
}

/** As in the errors of the public API. */
const LIMIT_TYPES = {
  day: 'daily_budget',
  week: 'weekly_budget',
  month: 'monthly_budget',
  window: 'window_budget',
  total: 'total_budget',
} as const;

const pageOf = (alert: DueBudgetAlert): string =>
  alert.ownerId === '' ? '/limits' : `/${ownerKindOf(alert)}s/${alert.ownerId}`;
const RESETS = {
  day: 'The budget resets at 00:00 UTC.',
  week: 'The budget resets on Monday at 00:00 UTC.',
  month: 'The budget resets on the first of the next month at 00:00 UTC.',
  window: 'What was admitted leaves the window hour by hour.',
  total: 'The budget never resets.',
} as const;

function mailOf(
  alert: DueBudgetAlert,
  organization: string,
  reachedAt: string,
  pages: AlertPages,
): MailContent {
  if (alert.endUserCount !== undefined)
    return mailOfEndUsers(alert, alert.endUserCount, organization, reachedAt, pages);
  const kind = ownerKindOf(alert);
  const owner = kind === 'organization' ? organization : `the ${kind} ${alert.ownerName}`;
  const budget = budgetNameOf(alert);
  const spent = mailUsd(alert.spentNanoUsd);
  const amount = mailUsd(alert.budgetNanoUsd);
  return {
    subject: `${alert.sharePercent}% of the ${budget} of ${owner} is spent`,
    paragraphs: [`${sentenceCase(owner)} has spent ${spent} of its ${budget} of ${amount}.`],
    facts: [
      ['Spent', `${spent} (${alert.sharePercent}% of the budget was reached)`],
      ['Budget', amount],
      ...(alert.periodStart && alert.hours === undefined
        ? [['Period', `${alert.periodStart}, UTC`] as const]
        : []),
      ['Reached', reachedAt],
      ['Organization', `${organization} (${alert.organizationId})`],
    ],
    ...pages.linkTo(alert.organizationId, pageOf(alert), 'Open the budget'),
    notes: [
      `Requests that the rest of the budget does not cover are refused. ${RESETS[alert.period]}`,
      'Owners and admins of the organization can raise it, up to the ceiling that an operator sets.',
    ],
  };
}

function mailOfEndUsers(
  alert: DueBudgetAlert,
  count: number,
  organization: string,
  reachedAt: string,
  pages: AlertPages,
): MailContent {
  const { sharePercent, ownerName, endUsers } = alert;
  const budget = budgetNameOf(alert);
  const amount = mailUsd(alert.budgetNanoUsd);
  const who = `${count} end ${count === 1 ? 'user' : 'users'} of the key ${ownerName}`;
  const others = count - endUsers.length;
  return {
    subject: `${who} reached ${sharePercent}% of their ${budget}`,
    paragraphs: [
      `${who} spent at least ${sharePercent}% of the ${budget} of ${amount} that each of them has.`,
    ],
    facts: [
      ...endUsers.map(
        ({ endUser, spentNanoUsd }) =>
          [endUser || 'Requests without an end user', mailUsd(spentNanoUsd)] as const,
      ),
      ...(others > 0 ? [['Other end users', String(others)] as const] : []),
      ['Budget of each', amount],
      ...(alert.periodStart && alert.hours === undefined
        ? [['Period', `${alert.periodStart}, UTC`] as const]
        : []),
      ['Reached', reachedAt],
      ['Organization', `${organization} (${alert.organizationId})`],
    ],
    ...pages.linkTo(alert.organizationId, pageOf(alert), 'Open the key'),
    notes: [
      `Their requests that the rest of the budget does not cover are refused. ${RESETS[alert.period]}`,
      'End users who reach it within the next hour are in one later email.',
    ],
  };
}

function budgetNameOf({ period, hours, model }: DueBudgetAlert): string {
  const name = period === 'window' ? `${hours}-hour budget` : LIMIT_TYPES[period].replace('_', ' ');
  return model === undefined ? name : `${name} for ${model}`;
}

const sentenceCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
