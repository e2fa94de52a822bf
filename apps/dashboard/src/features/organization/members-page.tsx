import { personLabel } from '@gateway/base';
import type { Result } from '@gateway/dashboard-contract/client';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { usePermission, useSession } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { omitUndefined } from '../../app/search';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { DebouncedInput } from '../../ui/debounced-input';
import { LoadMore, ShownCount } from '../../ui/load-more';
import { Menu, MenuItem } from '../../ui/menu';
import { Badge, OnOff } from '../../ui/notice';
import { Page, Section } from '../../ui/page';
import { SegmentedControl } from '../../ui/segmented-control';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { useToast } from '../../ui/toast';
import { Email, PersonName, Text, Time, TimeOrNever, visible } from '../../ui/values';
import { Domains } from './domains';
import { SecondFactorRequired } from './second-factor-required';
import { InvitePerson } from './invite-person';
import { canChangeRole, MemberRole, type Member, type MemberProps } from './member-role';
import { OperatorContact } from '../../app/operator-contact';

const route = getRouteApi('/signed-in/o/$organizationId/members');

type Invitation = Result<'GET /api/organizations/{organization_id}/invitations'>['data'][number];

const PAGE_SIZE = '100';

export function MembersPage() {
  const { organizationId } = route.useParams();
  const { find = '', action } = route.useSearch();
  const navigate = route.useNavigate();
  const can = usePermission(organizationId);
  const members = useInfiniteQuery({
    queryKey: ['members', organizationId, find],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/members', {
        params: { organization_id: organizationId },
        query: { page_size: PAGE_SIZE, page_token: pageParam, ...(find === '' ? {} : { search: find }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const shown = members.data?.pages.flatMap(({ data }) => data) ?? [];
  const canManage = can('members:manage');
  return (
    <Page
      title="Members"
      description="People with access to this organization."
      actions={
        canManage && (
          <InvitePerson
            organizationId={organizationId}
            canInviteOwners={can('members:manage_owners')}
            open={action === 'invite'}
            onOpenChange={(open) =>
              void navigate({
                search: (current) =>
                  omitUndefined({ ...current, action: open ? ('invite' as const) : undefined }),
                replace: true,
              })
            }
          />
        )
      }
    >
      <div className="grid gap-3">
        <DebouncedInput
          type="search"
          aria-label="Search by name, email or ID"
          placeholder="Search by name, email or ID"
          className="sm:w-64"
          value={find}
          onCommit={(text) => void navigate({ search: text === '' ? {} : { find: text }, replace: true })}
        />
        {blockingErrorOf(members) ? (
          <Failure error={members.error} what="members" onRetry={() => void members.refetch()} />
        ) : members.isPending ? (
          <SkeletonRows />
        ) : shown.length > 0 ? (
          <MemberTable
            organizationId={organizationId}
            members={shown}
            stale={members.isPlaceholderData}
            partial={members.hasNextPage}
          />
        ) : find !== '' ? (
          <Empty icon="search" title="No matches">
            Try a different search.
          </Empty>
        ) : (
          <Empty icon="people" title="No members yet">
            {canManage ? (
              'Invite the first owner.'
            ) : (
              <>
                Contact <OperatorContact /> to invite the first owner.
              </>
            )}
          </Empty>
        )}
        <ShownCount shown={shown.length} total={members.data?.pages[0]?.total} />
        <LoadMore of={members} />
      </div>
      {canManage && <Invitations organizationId={organizationId} />}
      {can('organization:security') && <SecondFactorRequired organizationId={organizationId} />}
      <Domains organizationId={organizationId} />
    </Page>
  );
}

interface MemberTableProps {
  readonly organizationId: string;
  readonly members: readonly Member[];
  readonly stale: boolean;
  readonly partial: boolean;
}

function MemberTable({ organizationId, members, stale, partial }: MemberTableProps) {
  const can = usePermission(organizationId);
  const session = useSession();
  const columns: readonly Column<Member>[] = [
    {
      id: 'email',
      header: 'Person',
      accessorFn: personLabel,
      cell: ({ row: { original: member } }) => (
        <span className="flex flex-wrap items-baseline gap-x-1.5">
          <PersonName of={member} />
          {member.id === session.member.id && <span className="text-ink-faint">(you)</span>}
        </span>
      ),
    },
    {
      id: 'role',
      header: 'Role',
      enableSorting: false,
      cell: ({ row: { original: member } }) => <MemberRole of={member} organizationId={organizationId} />,
    },
    {
      id: 'factor',
      header: '2FA',
      meta: { hide: 'phone' },
      enableSorting: false,
      cell: ({ row: { original: member } }) => <OnOff on={member.second_factor} />,
    },
    {
      id: 'joined',
      header: 'Joined',
      accessorFn: ({ joined_at: at }) => at,
      meta: { hide: 'phone' },
      cell: ({ row: { original: member } }) => <Time at={member.joined_at} />,
    },
    {
      id: 'seen',
      header: 'Last active',
      accessorFn: ({ last_seen_at: at }) => at ?? '',
      meta: { hide: 'tablet' },
      cell: ({ row: { original: member } }) => <TimeOrNever at={member.last_seen_at} />,
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      enableSorting: false,
      cell: ({ row: { original: member } }) =>
        canChangeRole(member, can) || member.id === session.member.id ? (
          <RemoveMember of={member} organizationId={organizationId} self={member.id === session.member.id} />
        ) : null,
    },
  ];
  return (
    <Table
      middle
      caption="Members"
      rows={members}
      columns={columns}
      rowId={({ id }) => id}
      stale={stale}
      partial={partial}
    />
  );
}

function RemoveMember({ of: member, organizationId, self }: MemberProps & { readonly self: boolean }) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: async () => {
      const params = { organization_id: organizationId };
      if (self) await api.call('POST /api/organizations/{organization_id}/leave', { params });
      else {
        await api.call('DELETE /api/organizations/{organization_id}/members/{member_id}', {
          params: { ...params, member_id: member.id },
        });
      }
    },
    onSuccess: async () => {
      setOpen(false);
      if (self) {
        queryClient.clear();
        window.location.assign('/');
      }
      await queryClient.invalidateQueries({ queryKey: ['members', organizationId] });
    },
  });
  return (
    <>
      <Menu
        trigger={
          <IconButton small className="!w-7" icon="more" label={`Actions for ${visible(member.email)}`} />
        }
      >
        <MenuItem danger onSelect={() => setOpen(true)}>
          {self ? 'Leave organization' : 'Remove member'}
        </MenuItem>
      </Menu>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title={self ? 'Leave organization?' : 'Remove member?'}
        action={self ? 'Leave' : 'Remove'}
        of={remove}
        onConfirm={() => remove.mutate()}
      >
        <p>
          <Text className="font-medium text-ink">{member.email}</Text> loses access to this organization. The
          account is not deleted. Its keys keep working until they are transferred or revoked on the keys
          page.
        </p>
      </Confirm>
    </>
  );
}

const STATES = {
  pending: { tone: 'good', label: 'Pending' },
  expired: { tone: 'warn', label: 'Expired' },
  accepted: { tone: 'plain', label: 'Accepted' },
  revoked: { tone: 'faint', label: 'Revoked' },
} as const;

const SHOWN = [
  { value: 'open', label: 'Open' },
  { value: 'all', label: 'All' },
] as const;

function Invitations({ organizationId }: { readonly organizationId: string }) {
  const [state, setState] = useState<(typeof SHOWN)[number]['value']>('open');
  const [revoking, setRevoking] = useState<Invitation>();
  const queryClient = useQueryClient();
  const toast = useToast();
  const invitations = useInfiniteQuery({
    queryKey: ['invitations', organizationId, state],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/invitations', {
        params: { organization_id: organizationId },
        query: { state, page_size: PAGE_SIZE, page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const shown = invitations.data?.pages.flatMap(({ data }) => data) ?? [];
  const revoke = useMutation({
    mutationFn: (invitationId: string) =>
      api.call('DELETE /api/organizations/{organization_id}/invitations/{invitation_id}', {
        params: { organization_id: organizationId, invitation_id: invitationId },
      }),
    onSuccess: () => {
      setRevoking(undefined);
      toast('Invitation revoked. Its link no longer works.');
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['invitations', organizationId] }),
  });
  const columns: readonly Column<Invitation>[] = [
    {
      id: 'email',
      header: 'Email',
      cell: ({ row: { original: one } }) => <Email className="font-medium">{one.email}</Email>,
    },
    {
      id: 'role',
      header: 'Role',
      cell: ({ row: { original: one } }) => <span className="capitalize">{one.role}</span>,
    },
    {
      id: 'state',
      header: 'Status',
      cell: ({ row: { original: one } }) => (
        <Badge tone={STATES[one.state].tone}>{STATES[one.state].label}</Badge>
      ),
    },
    {
      id: 'by',
      header: 'Invited by',
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => <Text>{one.invited_by}</Text>,
    },
    {
      id: 'ends',
      header: 'Expires',
      meta: { hide: 'phone' },
      // Accepted and revoked invitations do not expire.
      cell: ({ row: { original: one } }) =>
        one.state === 'pending' || one.state === 'expired' ? (
          <Time at={one.expires_at} />
        ) : (
          <span className="text-ink-faint">—</span>
        ),
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row: { original: one } }) =>
        one.state === 'pending' && (
          <Button small onClick={() => setRevoking(one)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Section
      title="Invitations"
      description="Links work once and expire after 7 days."
      actions={<SegmentedControl label="Invitations" options={SHOWN} value={state} onChange={setState} />}
    >
      {blockingErrorOf(invitations) ? (
        <Failure error={invitations.error} what="invitations" onRetry={() => void invitations.refetch()} />
      ) : invitations.isPending ? (
        <SkeletonRows rows={2} />
      ) : shown.length === 0 ? (
        <p className="text-sm text-ink-soft">
          {state === 'open' ? 'No open invitations.' : 'No invitations yet.'}
        </p>
      ) : (
        <div className="grid gap-3">
          <Table
            middle
            caption="Invitations"
            rows={shown}
            columns={columns}
            rowId={({ id }) => id}
            stale={invitations.isPlaceholderData}
          />
          <LoadMore of={invitations} />
        </div>
      )}
      <Confirm
        danger
        open={revoking !== undefined}
        onOpenChange={() => {
          setRevoking(undefined);
          revoke.reset();
        }}
        title="Revoke invitation?"
        action="Revoke invitation"
        of={revoke}
        onConfirm={() => revoking && revoke.mutate(revoking.id)}
      >
        <p>
          The link that was sent to <Text className="font-medium text-ink">{revoking?.email ?? ''}</Text>{' '}
          stops working.
        </p>
      </Confirm>
    </Section>
  );
}
