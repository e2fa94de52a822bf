import { endpoints, parts } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

export function createCreditHandlers({ owners }: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.credit.live, async ({ params }) => {
      const [balance, now] = await Promise.all([
        owners['billing-ledger'].call(endpoints.credit.balance, { params }),
        owners['generation-query'].call(parts.usageNow, { params }),
      ]);
      return { ...balance, ...now };
    }),
  ];
}
