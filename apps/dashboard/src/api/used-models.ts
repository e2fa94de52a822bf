import { useQuery } from '@tanstack/react-query';
import { api } from './client';
import { modelsQuery } from './models';
import { MAX_DAYS } from './usage';

const DAY_MS = 86_400_000;
const STALE_MS = 300_000;

/** The instants of a period: by default until now, and as long as usage can be summed. */
export interface UsedIn {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** The models of a filter: those of the catalogue, those that were used in the period, and the chosen one. */
export function useModelChoices(organizationId: string, period: UsedIn, chosen: string | undefined) {
  const { data: offered = [] } = useQuery(modelsQuery);
  const days = daysOf(period);
  const { data: used = [] } = useQuery({
    queryKey: ['used-models', organizationId, days],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/usage/groups', {
          params: { organization_id: organizationId },
          query: { ...days, granularity: 'day', group_by: 'model', page_size: '200' },
          signal,
        })
      ).data,
    staleTime: STALE_MS,
  });
  const ids = [...offered, ...used].map(({ id }) => id);
  return [...new Set([...ids, ...(chosen === undefined ? [] : [chosen])])].filter((id) => id !== '');
}

/** Full UTC days, so that repeated queries share a cache entry. */
function daysOf({ start, end }: UsedIn) {
  const to = Math.ceil((end === undefined ? Date.now() : Date.parse(end)) / DAY_MS);
  const from = start === undefined ? 0 : Math.floor(Date.parse(start) / DAY_MS);
  const iso = (day: number) => new Date(day * DAY_MS).toISOString();
  return { start: iso(Math.max(from, to - MAX_DAYS)), end: iso(to) };
}
