import { endpoints } from '@gateway/dashboard-contract';
import { audited } from '../audited';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { toDashboardError } from '../messages/errors';
import { catalogueView, openHoldsView, providerHealthView, targetView } from '../messages/operator-views';
import { ledgerReconciliationView, usageReconciliationView } from '../messages/reconciliation-views';
import { isoTime } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

export function createOperatorHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { routerAdmin, ledgerAdmin, generationReports, clock, log, settings } = ports;
  const startedAt = clock.now();

  /** One part that cannot be had leaves the others to be shown: this page is for when something is wrong. */
  const orNull = <Value>(what: string, asked: Promise<Value>): Promise<Value | null> =>
    asked.catch((error: unknown) => {
      log.warn({ err: error }, `${what} cannot be shown`);
      return null;
    });

  return [
    implement(endpoints.operator.catalogue, () =>
      orUnavailable('The catalogue', async () => ({
        catalogue: catalogueView(await routerAdmin.getCatalogue({})),
      })),
    ),

    implement(endpoints.operator.providerHealth, () =>
      orUnavailable('The health of providers', async () => ({
        health: providerHealthView(await routerAdmin.getProviderHealth({}), BigInt(clock.now())),
      })),
    ),

    implement(endpoints.operator.drainTarget, async ({ body, actor }) => {
      const { provider, provider_model: providerModel, drained, reason } = body;
      const change = {
        actor,
        action: drained ? 'target.drain' : 'target.resume',
        target: `${provider}/${providerModel}`,
        details: { reason },
      };
      const target = await audited(ports, change, async () => {
        const answer = await routerAdmin.setTargetDrained({
          provider,
          providerModel,
          drained,
          by: actor.label,
          reason,
        });
        if (!answer.target) throw new DashboardError('not_found', { message: 'No model has this target.' });
        return answer.target;
      });
      return { target: targetView(target) };
    }),

    implement(endpoints.operator.settlementHealth, async () => {
      const [holds, router, lags] = await Promise.all([
        orNull('what is held', ledgerAdmin.getLedgerHealth({})),
        orNull('the spool', routerAdmin.getProviderHealth({})),
        orNull('what waits in the event log', readEventLag(ports)),
      ]);
      const now = clock.now();
      return {
        health: {
          observed_at: isoTime(BigInt(now)),
          open_holds: holds && openHoldsView(holds, now),
          event_log: lags,
          spool: router && { generations: router.spooledGenerations, bytes: Number(router.spoolBytes) },
        },
      };
    }),

    implement(endpoints.operator.reconciliation, async () => {
      const [ledger, usage] = await Promise.all([
        orNull('the reconciliation of the ledger', ledgerAdmin.getLedgerReconciliation({})),
        orNull('the reconciliation of usage', generationReports.getUsageReconciliation({})),
      ]);
      return {
        reconciliation: {
          observed_at: isoTime(BigInt(clock.now())),
          ledger: ledger && ledgerReconciliationView(ledger),
          usage: usage && usageReconciliationView(usage),
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
 * What another service answers, as this API shows it. A failure that has no
 * better name is that service's, which an operator has to be told: it is not
 * answered as if this API had failed. What one may try again keeps its words.
 */
async function orUnavailable<Value>(what: string, ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (error) {
    const known = toDashboardError(error);
    if (known.code !== 'internal') throw known;
    throw new DashboardError('unavailable', { message: `${what} cannot be had right now.`, cause: error });
  }
}

/** Of every consumer group, wherever its members run. */
async function readEventLag({ deadLetters }: DashboardApiPorts) {
  const answers = await Promise.all([...deadLetters.values()].map((client) => client.countWaiting({})));
  return answers.flatMap(({ groups }) =>
    groups.map(({ topic, group, events }) => ({ topic, group, waiting: Number(events) })),
  );
}
