import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { liveQuery } from '../../api/balance';
import { latestGenerationsQuery } from '../../api/generations';
import { keysQuery } from '../../api/keys';
import { nanoUsdOf } from '../../format/money';

interface Steps {
  readonly hasCredit: boolean;
  readonly hasKey: boolean;
  readonly hasRequest: boolean;
}

export interface KnownSteps {
  /** The completed steps; undefined until loaded. */
  readonly steps: Steps | undefined;
  /** Why they could not be loaded. */
  readonly error: unknown;
  readonly retry: () => void;
}

export function useSteps(organizationId: string | undefined): KnownSteps {
  const id = organizationId ?? '';
  const enabled = organizationId !== undefined;
  const live = useQuery({ ...liveQuery(id), enabled });
  const keys = useInfiniteQuery({ ...keysQuery(id, { state: 'active' }), enabled });
  const latest = useQuery({ ...latestGenerationsQuery(id), enabled });
  const retry = () => [live, keys, latest].forEach(({ refetch }) => void refetch());
  if (!live.data || !keys.data || !latest.data) {
    return { steps: undefined, error: live.error ?? keys.error ?? latest.error, retry };
  }
  const steps = {
    hasCredit: nanoUsdOf(live.data.balance.total_credits_usd) > 0n,
    hasKey: keys.data.pages.some(({ data }) => data.length > 0),
    hasRequest: latest.data.data.length > 0 || live.data.latest_generation_id !== null,
  };
  return { steps, error: null, retry };
}
