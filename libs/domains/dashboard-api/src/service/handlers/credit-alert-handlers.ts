import { endpoints, parts } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

/** Auth counts the emails of an alert before the ledger may send them: they go to addresses without verification. */
export function createCreditAlertHandlers({ owners }: DashboardApiPorts): readonly Implementation[] {
  const { alert, setAlert, testAlert } = endpoints.credit;

  return [
    // Setting an alert may send one, too.
    implement(setAlert, async ({ params, body, sent }) => {
      const { alert: current } = await owners['billing-ledger'].call(alert, { params });
      const { threshold_usd: threshold = current.threshold_usd, emails = current.emails } = body;
      const recipients = threshold === null || emails === null ? [] : emails;
      await owners.auth.call(parts.countEmails, { params, body: { recipients } });
      return owners['billing-ledger'].call(setAlert, { params, body: sent });
    }),

    implement(testAlert, async ({ params, sent }) => {
      const { alert: current } = await owners['billing-ledger'].call(alert, { params });
      await owners.auth.call(parts.countEmails, { params, body: { recipients: current.emails } });
      return owners['billing-ledger'].call(testAlert, { params, body: sent });
    }),
  ];
}
