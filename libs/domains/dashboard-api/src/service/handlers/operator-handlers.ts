import { isoTime, usd } from '@gateway/admin-calls';
import type { NanoUsd } from '@gateway/base';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { forwardedQuery } from '../http/forwarded-query';
import { toDashboardError } from '../messages/errors';
import { withFigures } from '../organization-figures';
import type { DashboardApiPorts } from '../ports';

export function createOperatorHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, clock, log, settings } = ports;
  const startedAt = clock.now();

  /** Null for an unavailable part: the rest of the page is needed most during an incident. */
  const orNull = <Value>(what: string, value: Promise<Value>): Promise<Value | null> =>
    value.catch((error: unknown) => {
      log.warn({ err: error }, `${what} is unavailable`);
      return null;
    });

  async function lowBalances(below: NanoUsd): Promise<string[]> {
    const query = { below_usd: usd(below) };
    const found = owners['billing-ledger'].call(parts.lowBalances, { query });
    return (await orUnavailable('Balances', found)).organization_ids;
  }

  return [
    implement(endpoints.operator.organizations, async ({ query: { balance_below_usd: below, ...query } }) => {
      const ids = below === undefined ? undefined : await lowBalances(below);
      const page = await owners.auth.call(parts.organizations, {
        query: { ...forwardedQuery(query), ...(ids && { ids }) },
      });
      return { ...page, data: await withFigures(ports, page.data) };
    }),

    implement(endpoints.operator.findRequests, async ({ query }) => {
      const found = (await owners['generation-query'].call(parts.foundRequests, { query })).data;
      if (found.length === 0) return { data: [] };
      const ids = [...new Set(found.map(({ organization_id: id }) => id))];
      const organizations = (await owners.auth.call(parts.organizations, { query: { ids } })).data;
      const names = new Map(organizations.map(({ id, name }) => [id, name]));
      return {
        data: found.map(({ organization_id: id, ...request }) => ({
          ...request,
          organization: { id, name: names.get(id) ?? '' },
        })),
      };
    }),

    implement(endpoints.operator.platformUsage, () =>
      orUnavailable('Usage', owners['generation-query'].call(endpoints.operator.platformUsage)),
    ),

    implement(endpoints.operator.catalogue, () =>
      orUnavailable('The model catalogue', owners['inference-router'].call(endpoints.operator.catalogue)),
    ),

    implement(endpoints.operator.providerHealth, () =>
      orUnavailable('Provider health', owners['inference-router'].call(endpoints.operator.providerHealth)),
    ),

    implement(endpoints.operator.settlementHealth, async () => {
      const [holds, spool, lags] = await Promise.all([
        orNull('ledger health', owners['billing-ledger'].call(parts.openHolds)),
        orNull('router health', owners['inference-router'].call(parts.spool)),
        orNull('event log lag', readEventLag(ports)),
      ]);
      const now = clock.now();
      return {
        health: {
          observed_at: isoTime(BigInt(now)),
          open_holds: holds,
          event_log: lags,
          spool,
        },
      };
    }),

    implement(endpoints.operator.reconciliation, async () => {
      const [ledger, usage] = await Promise.all([
        orNull('ledger reconciliation', owners['billing-ledger'].call(parts.ledgerReconciliation)),
        orNull('usage reconciliation', owners['generation-query'].call(parts.usageReconciliation)),
      ]);
      return {
        reconciliation: {
          observed_at: isoTime(BigInt(clock.now())),
          ledger,
          usage,
        },
      };
    }),

    implement(endpoints.operator.version, async () => ({
      version: settings.version ?? 'unknown',
      node: process.version,
      started_at: isoTime(BigInt(startedAt)),
    })),
  ];
}

/**
 * Reports an unclassified failure of another service as `unavailable`, not as an internal error of this
 * API. Classified errors stay as they are.
 */
async function orUnavailable<Value>(what: string, value: Promise<Value>): Promise<Value> {
  try {
    return await value;
  } catch (error) {
    const known = toDashboardError(error);
    if (known.code !== 'internal') throw known;
    throw new DashboardError('unavailable', { message: `${what} is temporarily unavailable.`, cause: error });
  }
}

/** The lag of every consumer group, across all services. */
async function readEventLag({ deadLetters }: DashboardApiPorts) {
  const responses = await Promise.all([...deadLetters.values()].map((client) => client.countWaiting({})));
  return responses.flatMap(({ groups }) =>
    groups.map(({ topic, group, events }) => ({ topic, group, lag: Number(events) })),
  );
}
