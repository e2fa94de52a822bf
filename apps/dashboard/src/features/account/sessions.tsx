import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client';
import { blockingErrorOf } from '../../api/transient-error';
import { counted } from '../../format/count';
import { Button } from '../../ui/button';
import { Badge } from '../../ui/notice';
import { Section } from '../../ui/page';
import { Failure, messageOf, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { useToast } from '../../ui/toast';
import { Tip } from '../../ui/tooltip';
import { Id, Time, visible } from '../../ui/values';
import { deviceName } from './device-name';

type SessionInList = Result<'GET /api/sessions'>['data'][number];

/** The short device name, with the full User-Agent header in a tooltip. */
function Device({ of: device }: { readonly of: string }) {
  return (
    <Tip text={visible(device)}>
      <span tabIndex={0} className="font-medium">
        {visible(deviceName(device))}
      </span>
    </Tip>
  );
}

export function Sessions() {
  const queryClient = useQueryClient();
  const toast = useToast();
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/sessions', { query: { page_size: '100' }, signal })).data,
  });
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['sessions'] });
  const end = useMutation({
    mutationFn: (id: string) => api.call('DELETE /api/sessions/{session_id}', { params: { session_id: id } }),
    onError: (error) => toast(messageOf(error)),
    onSettled: refresh,
  });
  const endOthers = useMutation({
    mutationFn: () => api.call('POST /api/sessions/end-others'),
    onSuccess: ({ ended }) => toast(`${counted(ended, 'session')} signed out.`),
    onError: (error) => toast(messageOf(error)),
    onSettled: refresh,
  });
  const columns: readonly Column<SessionInList>[] = [
    {
      id: 'device',
      header: 'Device',
      cell: ({ row: { original: session } }) => (
        <>
          <Device of={session.device} /> {session.current && <Badge tone="good">Current</Badge>}
          <p className="text-xs text-ink-faint">
            <Id>{session.ip_address}</Id> · {session.signed_in_by === 'oidc' ? 'Single sign-on' : 'Password'}
          </p>
        </>
      ),
    },
    {
      id: 'created',
      header: 'Signed in',
      meta: { hide: 'phone' },
      cell: ({ row: { original } }) => <Time at={original.created_at} />,
    },
    {
      id: 'seen',
      header: 'Last active',
      cell: ({ row: { original } }) => <Time at={original.last_seen_at} />,
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row: { original: session } }) =>
        !session.current && (
          <Button
            small
            aria-label={`Sign out ${visible(deviceName(session.device))}`}
            busy={end.isPending && end.variables === session.id}
            onClick={() => end.mutate(session.id)}
          >
            Sign out
          </Button>
        ),
    },
  ];
  return (
    <Section
      title="Sessions"
      description="Devices that are signed in to your account."
      actions={
        (query.data?.length ?? 0) > 1 && (
          <Button small busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            Sign out all others
          </Button>
        )
      }
    >
      {blockingErrorOf(query) ? (
        <Failure error={query.error} what="sessions" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={2} />
      ) : (
        <Table caption="Sessions" rows={query.data} columns={columns} rowId={({ id }) => id} />
      )}
    </Section>
  );
}
