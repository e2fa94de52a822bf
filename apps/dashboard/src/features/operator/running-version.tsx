import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import { Time } from '../../ui/values';

export function RunningVersion() {
  const { data } = useQuery({
    queryKey: ['version'],
    queryFn: ({ signal }) => api.call('GET /api/operator/version', { signal }),
    staleTime: 60_000,
  });
  if (!data) return <>All organizations on this gateway.</>;
  return (
    <>
      Version {data.version}, Node.js {data.node}, started <Time at={data.started_at} />
    </>
  );
}
