import { randomBytes } from 'node:crypto';
import { implement, type Implementation } from '@gateway/admin-calls';
import { auditOf, formatUsd, isEmailAddress, type Clock } from '@gateway/base';
import { parseAmount, parseRequest } from '@gateway/billing-ledger';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import type { BudgetAlertStore, CreditAlertStore } from '../core/ports';
import type { AlertDispatcher } from './alert-dispatcher';
import { budgetAlertView, creditAlertView } from './views';

export interface AlertEndpointPorts {
  readonly alerts: CreditAlertStore;
  readonly budgetAlerts: { readonly alerts: Pick<BudgetAlertStore, 'listAlerts'> };
  readonly dispatcher: AlertDispatcher;
  /** Why a webhook URL is refused; undefined if it is accepted. */
  readonly webhookUrlIssue: (url: string) => string | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

const MAX_BUDGET_ALERTS = 100;

/** The alerts about a low balance and about budgets. */
export function createAlertEndpoints(ports: AlertEndpointPorts): readonly Implementation[] {
  const { alerts, dispatcher } = ports;

  function checkWebhook(webhookUrl: string): void {
    if (!alerts.storesWebhooks)
      throw invalid('webhook_url', 'cannot be stored: GATEWAY_SECRETS_KEY is not set for billing-ledger');
    const issue = ports.webhookUrlIssue(webhookUrl);
    if (issue) throw invalid('webhook_url', issue);
  }

  return [
    implement(endpoints.credit.alert, async ({ params }) => ({
      alert: creditAlertView(await alerts.readAlert(params.organization_id)),
    })),

    implement(endpoints.credit.budgetAlerts, async ({ params }) => {
      const sent = await ports.budgetAlerts.alerts.listAlerts(params.organization_id, MAX_BUDGET_ALERTS);
      return { data: sent.map(budgetAlertView) };
    }),

    implement(endpoints.credit.setAlert, async ({ params, body, actor }) => {
      const organizationId = params.organization_id;
      const { threshold_usd: amount, webhook_url: webhookUrl } = body;
      if (typeof webhookUrl === 'string') checkWebhook(webhookUrl);
      const emails = body.emails === null ? [] : body.emails;
      const index = emails?.findIndex((email) => !isEmailAddress(email)) ?? -1;
      if (index !== -1) throw invalid(`emails[${index}]`, 'must be an email address');
      const shares = body.budget_shares === null ? [] : body.budget_shares;
      const budgetShares = shares && [...new Set(shares)].sort((a, b) => a - b);
      const thresholdNanoUsd = ifGiven(amount, (given) =>
        parseRequest(() => parseAmount('threshold_nano_usd', given, 1n)),
      );
      const details = {
        threshold_usd: ifGiven(thresholdNanoUsd, formatUsd),
        // The path of a webhook URL may be a secret.
        webhook_host: ifGiven(webhookUrl, (url) => new URL(url).host),
        emails,
        budget_shares: budgetShares,
      };
      const { alert, secret } = await alerts.setAlert(
        organizationId,
        { thresholdNanoUsd, webhookUrl, emails, budgetShares },
        `whsec_${randomBytes(32).toString('base64url')}`,
        auditOf(
          { actor, organizationId, action: 'credit_alert.set', target: organizationId, details },
          ports,
        ),
      );
      return { alert: creditAlertView(alert), webhook_secret: secret ?? null };
    }),

    implement(endpoints.credit.testAlert, async ({ params, actor }) => {
      const organizationId = params.organization_id;
      const recipients = await alerts.readRecipients(organizationId);
      if (!recipients) {
        throw new DashboardError('conflict', {
          message: 'The alert has no recipients. Add a webhook or an email address first.',
        });
      }
      const test = {
        actor,
        organizationId,
        action: 'credit_alert.test',
        target: organizationId,
        details: {},
      };
      await alerts.recordTest(auditOf(test, ports));
      const failure = await dispatcher.deliver({ ...recipients, testedAt: ports.clock.now() });
      return { delivered: failure === undefined, failure: failure ?? null };
    }),
  ];
}

/** Null and undefined stay as they are. */
function ifGiven<Given, Result>(value: Given | null | undefined, use: (value: Given) => Result) {
  return value === null || value === undefined ? value : use(value);
}

function invalid(param: string, what: string): DashboardError {
  return new DashboardError('invalid', { param, message: `${param} ${what}.` });
}
