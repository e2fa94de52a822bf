import { parts, type endpoints, type JsonOf } from '@gateway/dashboard-contract';
import type { DashboardApiPorts } from './ports';

type Organization = JsonOf<typeof endpoints.organizations.list>['data'][number];
type Ports = Pick<DashboardApiPorts, 'owners' | 'log'>;

/** Shorter than the default timeout, since organizations can be listed without their figures. */
const FIGURES_TIMEOUT_MS = 5_000;

/** Organizations with balance and usage: one call per service, whatever their number. */
export async function withFigures(ports: Ports, organizations: readonly Organization[]) {
  const { owners, log } = ports;
  const organizationIds = organizations.map(({ id }) => id);
  const timeout = { timeoutMs: FIGURES_TIMEOUT_MS };
  const orUndefined = <Value>(what: string, value: Promise<Value>) =>
    value.catch((error: unknown) => {
      log.warn({ err: error }, `listing organizations without their ${what}`);
      return undefined;
    });
  const query = { organization_ids: organizationIds };
  const [balances, usage] = await Promise.all([
    orUndefined('balances', owners['billing-ledger'].call(parts.balances, { query }, timeout)),
    orUndefined('usage', owners['generation-query'].call(parts.organizationUsage, { query }, timeout)),
  ]);
  return organizations.map((organization, index) => ({
    ...organization,
    balance_usd: balances?.data[index] ?? null,
    usage: usage?.data[index] ?? null,
  }));
}
