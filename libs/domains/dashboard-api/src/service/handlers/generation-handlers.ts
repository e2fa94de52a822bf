import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

export function createGenerationHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, log } = ports;

  /** Null while the ledger is unavailable: the generation is shown without its entries. */
  const readEntries = (params: { readonly organization_id: string }, reference: string) =>
    owners['billing-ledger'].call(parts.ledgerEntries, { params, query: { reference } }).then(
      ({ data }) => data,
      (error: unknown) => {
        log.warn({ err: error, reference }, 'ledger entries of a generation are unavailable');
        return null;
      },
    );

  return [
    implement(endpoints.generations.get, async ({ params }) => {
      const [{ generation }, entries] = await Promise.all([
        owners['generation-query'].call(parts.generation, { params }),
        readEntries(params, params.generation_id),
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
