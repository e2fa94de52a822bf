import { endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { throwIfRefused } from '../messages/errors';
import type { DashboardApiPorts } from '../ports';

/** Auth counts the emails of an alert before the ledger may send them: they go to addresses without verification. */
export function createCreditAlertHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { authAdmin, owners } = ports;
  const { alert, setAlert, testAlert } = endpoints.credit;

  const countEmails = async (organizationId: string, recipients: readonly string[]) => {
    if (recipients.length === 0) return;
    const { refusal } = await authAdmin.countEmails({ organizationId, recipients: [...recipients] });
    throwIfRefused(refusal);
  };

  return [
    // Setting an alert may send one, too.
    implement(setAlert, async ({ params, body, sent }) => {
      const { alert: current } = await owners['billing-ledger'].call(alert, { params });
      const { threshold_usd: threshold = current.threshold_usd, emails = current.emails } = body;
      if (threshold !== null) await countEmails(params.organization_id, emails ?? []);
      return owners['billing-ledger'].call(setAlert, { params, body: sent });
    }),

    implement(testAlert, async ({ params, sent }) => {
      const { alert: current } = await owners['billing-ledger'].call(alert, { params });
      await countEmails(params.organization_id, current.emails);
      return owners['billing-ledger'].call(testAlert, { params, body: sent });
    }),
  ];
}
