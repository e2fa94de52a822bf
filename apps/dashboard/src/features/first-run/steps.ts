import { useQuery } from '@tanstack/react-query';
import { liveQuery } from '../../api/balance';
import { latestGenerationsQuery } from '../../api/generations';
import { nanoUsdOf } from '../../format/money';
import { useInfiniteQuery } from '@tanstack/react-query';
import { keysQuery } from '../../api/keys';

export interface Steps {
  readonly hasCredit: boolean;
  readonly hasKey: boolean;
  readonly hasRequest: boolean;
}

/** How far an organization has come; undefined while it is not known. */
export function useSteps(organizationId: string | undefined): Steps | undefined {
  const id = organizationId ?? '';
  const enabled = organizationId !== undefined;
  const live = useQuery({ ...liveQuery(id), enabled });
  const keys = useInfiniteQuery({ ...keysQuery(id), enabled });
  const latest = useQuery({ ...latestGenerationsQuery(id), enabled });
  if (!live.data || !keys.data || !latest.data) return undefined;
  return {
    hasCredit: nanoUsdOf(live.data.balance.total_credits_usd) > 0n,
    hasKey: keys.data.pages.some(({ data }) => data.some(({ state }) => state === 'active')),
    hasRequest: latest.data.data.length > 0 || live.data.latest_generation_id !== null,
  };
}
