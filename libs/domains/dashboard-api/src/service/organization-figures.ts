import { usd } from '@gateway/admin-calls';
import type { Organization } from '@gateway/contracts/auth';
import { parts } from '@gateway/dashboard-contract';
import { organizationView } from './messages/views';
import type { DashboardApiPorts } from './ports';

type Ports = Pick<DashboardApiPorts, 'owners' | 'ledgerAdmin' | 'log'>;

/** Shorter than the default timeout, since organizations can be listed without their figures. */
const FIGURES_TIMEOUT_MS = 5_000;

/** Organizations with balance and usage: one call per service, whatever their number. */
export async function withFigures(ports: Ports, organizations: readonly Organization[]) {
  const { owners, ledgerAdmin, log } = ports;
  const organizationIds = organizations.map(({ id }) => id);
  const timeout = { timeoutMs: FIGURES_TIMEOUT_MS };
  const orUndefined = <Value>(what: string, value: Promise<Value>) =>
    value.catch((error: unknown) => {
      log.warn({ err: error }, `listing organizations without their ${what}`);
      return undefined;
    });
  const query = { organization_ids: organizationIds };
  const [ledger, usage] = await Promise.all([
    orUndefined('balances', ledgerAdmin.listBalances({ organizationIds }, timeout)),
    orUndefined('usage', owners['generation-query'].call(parts.organizationUsage, { query }, timeout)),
  ]);
  const balances = new Map(ledger?.balances.map((one) => [one.organizationId, one.balanceNanoUsd]));
  return organizations.map((organization, index) => {
    const balance = balances.get(organization.id);
    return {
      ...organizationView(organization),
      balance_usd: balance === undefined ? null : usd(balance),
      usage: usage?.data[index] ?? null,
    };
  });
}
