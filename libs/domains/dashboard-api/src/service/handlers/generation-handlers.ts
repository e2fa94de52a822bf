import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { ledgerEntryView } from '../messages/credit-views';
import type { DashboardApiPorts } from '../ports';

export function createGenerationHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, ledgerAdmin, log } = ports;

  /** Null while the ledger is unavailable: the generation is shown without its entries. */
  const readEntries = (organizationId: string, reference: string) =>
    ledgerAdmin.listEntries({ organizationId, reference }).then(
      ({ entries }) => entries.map(ledgerEntryView),
      (error: unknown) => {
        log.warn({ err: error, reference }, 'ledger entries of a generation are unavailable');
        return null;
      },
    );

  return [
    implement(endpoints.generations.get, async ({ params }) => {
      const [{ generation }, entries] = await Promise.all([
        owners['generation-query'].call(parts.generation, { params }),
        readEntries(params.organization_id, params.generation_id),
      ]);
      if (!generation) {
        throw new DashboardError('not_found', {
          message:
            'This generation does not exist, or is not settled yet. A refused request has no generation.',
        });
      }
      return { generation: { ...generation, ledger_entries: entries } };
    }),
  ];
}
