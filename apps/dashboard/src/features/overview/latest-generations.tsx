import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { liveQuery } from '../../api/balance';
import { latestGenerationsQuery } from '../../api/generations';
import { blockingErrorOf } from '../../api/transient-error';
import { sectionLinkClass } from '../../ui/button';
import { Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table } from '../../ui/table';
import { generationColumns } from '../generations/generation-columns';

/** Reloads when the live figures report a newer generation. */
export function LatestGenerations({ organizationId }: { readonly organizationId: string }) {
  const { data: live } = useQuery(liveQuery(organizationId));
  const latest = useQuery(latestGenerationsQuery(organizationId));
  const { refetch } = latest;
  const newestId = live?.latest_generation_id;
  useEffect(() => {
    if (newestId) void refetch();
  }, [newestId, refetch]);
  return (
    <Section
      title="Latest generations"
      actions={
        <Link to="/o/$organizationId/generations" params={{ organizationId }} className={sectionLinkClass}>
          View all
        </Link>
      }
    >
      {blockingErrorOf(latest) ? (
        <Failure error={latest.error} what="generations" onRetry={() => void latest.refetch()} />
      ) : !latest.data ? (
        <SkeletonRows />
      ) : latest.data.data.length === 0 ? (
        <Empty icon="list" title="No requests yet">
          Requests appear here within seconds.
        </Empty>
      ) : (
        <Table
          caption="Latest generations"
          rows={latest.data.data}
          columns={generationColumns({ organizationId })}
          rowId={({ id }) => id}
        />
      )}
    </Section>
  );
}
