import type { Organization } from '@gateway/contracts/auth';
import { marginView, usageTotalsView } from './messages/usage-views';
import { organizationView, timeOrNull, usd } from './messages/views';
import type { DashboardApiPorts } from './ports';

type Ports = Pick<DashboardApiPorts, 'ledgerAdmin' | 'generationReports' | 'clock' | 'log'>;

/** Shorter than the default timeout, since organizations can be listed without their figures. */
const FIGURES_TIMEOUT_MS = 5_000;

/** Organizations with balance and usage: one call per service, whatever their number. */
export async function withFigures(ports: Ports, organizations: readonly Organization[]) {
  const { ledgerAdmin, generationReports, clock, log } = ports;
  const organizationIds = organizations.map(({ id }) => id);
  const timeout = { timeoutMs: FIGURES_TIMEOUT_MS };
  const orUndefined = <Value>(what: string, value: Promise<Value>) =>
    value.catch((error: unknown) => {
      log.warn({ err: error }, `listing organizations without their ${what}`);
      return undefined;
    });
  const request = { organizationIds, nowUnixMs: BigInt(clock.now()) };
  const [ledger, reports] = await Promise.all([
    orUndefined('balances', ledgerAdmin.listBalances({ organizationIds }, timeout)),
    orUndefined('usage', generationReports.listOrganizationUsage(request, timeout)),
  ]);
  const balances = new Map(ledger?.balances.map((one) => [one.organizationId, one.balanceNanoUsd]));
  const usages = new Map(reports?.organizations.map((one) => [one.organizationId, one]));
  return organizations.map((organization) => {
    const balance = balances.get(organization.id);
    const usage = usages.get(organization.id);
    return {
      ...organizationView(organization),
      balance_usd: balance === undefined ? null : usd(balance),
      usage: usage
        ? {
            last_30_days: usageTotalsView(usage.totals),
            margin: marginView(usage.margin),
            last_used_at: timeOrNull(usage.lastUsedUnixMs),
          }
        : null,
    };
  });
}
