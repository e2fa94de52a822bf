import { personLabel } from '@gateway/base';
import type { Result } from '@gateway/dashboard-contract/client';
import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { AccessItems, ConfirmAccessChange, type AccessChange } from './person-access';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { CopyButton } from '../../ui/copy';
import { DebouncedInput } from '../../ui/debounced-input';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Input } from '../../ui/field';
import { LoadMore, ShownCount } from '../../ui/load-more';
import { Menu, MenuItem } from '../../ui/menu';
import { Badge, OnOff } from '../../ui/notice';
import { Page } from '../../ui/page';
import { Empty, Failure, messageOf, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { useToast } from '../../ui/toast';
import { Email, Id, PersonName, Text, TimeOrNever, visible } from '../../ui/values';

type Person = Result<'GET /api/people'>['data'][number];

const route = getRouteApi('/signed-in/operator/people');

export function PeoplePage() {
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({
    queryKey: ['people', find],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/people', {
        query: { page_size: '100', page_token: pageParam, ...(find === '' ? {} : { search: find }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const people = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Page
      title="People"
      description="Everyone with an account. Invite people from an organization’s members page."
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
        {blockingErrorOf(query) ? (
          <Failure error={query.error} what="people" onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <SkeletonRows />
        ) : people.length === 0 ? (
          <Empty icon="search" title="No matches">
            Try a different search.
          </Empty>
        ) : (
          <Table
            caption="People"
            rows={people}
            columns={COLUMNS}
            rowId={({ id }) => id}
            stale={query.isPlaceholderData}
            partial={query.hasNextPage}
          />
        )}
        <ShownCount shown={people.length} total={query.data?.pages[0]?.total} />
        <LoadMore of={query} />
      </div>
    </Page>
  );
}

const COLUMNS: readonly Column<Person>[] = [
  {
    id: 'email',
    header: 'Person',
    accessorFn: personLabel,
    cell: ({ row: { original: person } }) => (
      <span className="flex flex-wrap items-center gap-2">
        <PersonName of={person} />
        {person.role === 'operator' && <Badge tone="good">Operator</Badge>}
        {person.disabled && <Badge tone="bad">Disabled</Badge>}
        <span className="basis-full text-xs font-normal text-ink-soft @2xl:hidden">
          <Organizations of={person} />
        </span>
      </span>
    ),
  },
  {
    id: 'organizations',
    header: 'Organizations',
    enableSorting: false,
    meta: { hide: 'phone' },
    cell: ({ row: { original: person } }) => <Organizations of={person} />,
  },
  {
    id: 'factor',
    header: '2FA',
    enableSorting: false,
    meta: { hide: 'phone' },
    cell: ({ row: { original: person } }) => <OnOff on={person.second_factor} />,
  },
  {
    id: 'seen',
    header: 'Last active',
    accessorFn: ({ last_seen_at: at }) => at ?? '',
    meta: { hide: 'phone' },
    cell: ({ row: { original: person } }) => <TimeOrNever at={person.last_seen_at} />,
  },
  {
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    enableSorting: false,
    meta: { className: 'text-right' },
    cell: ({ row: { original: person } }) => <PersonActions of={person} />,
  },
];

function Organizations({ of: { organizations } }: { readonly of: Person }) {
  if (organizations.length === 0) return <span className="text-ink-faint">None</span>;
  return (
    <ul>
      {organizations.map(({ id, name, role }) => (
        <li key={id}>
          <Link
            to="/o/$organizationId/members"
            params={{ organizationId: id }}
            className="hover:text-accent hover:underline"
          >
            <Text>{name}</Text>
          </Link>{' '}
          <span className="text-ink-faint">({role})</span>
        </li>
      ))}
    </ul>
  );
}

function PersonActions({ of: person }: { readonly of: Person }) {
  const { member } = useSession();
  const [changing, setChanging] = useState(false);
  const [accessChange, setAccessChange] = useState<AccessChange>();
  const queryClient = useQueryClient();
  const toast = useToast();
  const createLink = useMutation({
    mutationFn: () =>
      api.call('POST /api/people/{member_id}/password-reset-link', { params: { member_id: person.id } }),
    onError: (error) => toast(messageOf(error)),
  });
  const [unlinking, setUnlinking] = useState<string>();
  const unlink = useMutation({
    mutationFn: () =>
      api.call('POST /api/people/{member_id}/identities/unlink', {
        params: { member_id: person.id },
        body: { issuer: unlinking ?? '' },
      }),
    onSuccess: async () => {
      setUnlinking(undefined);
      toast('Identity provider unlinked.');
      await queryClient.invalidateQueries({ queryKey: ['people'] });
    },
  });
  const isOperator = person.role === 'operator';
  const setOperator = useMutation({
    mutationFn: () =>
      api.call('PUT /api/people/{member_id}/operator', {
        params: { member_id: person.id },
        body: { operator: !isOperator },
      }),
    onSuccess: async () => {
      setChanging(false);
      await queryClient.invalidateQueries({ queryKey: ['people'] });
    },
  });
  return (
    <>
      <Menu
        trigger={
          <IconButton small className="!w-7" icon="more" label={`Actions for ${visible(person.email)}`} />
        }
      >
        <MenuItem onSelect={() => createLink.mutate()}>Create password reset link</MenuItem>
        {person.identities.map(({ issuer }) => (
          <MenuItem key={issuer} danger onSelect={() => setUnlinking(issuer)}>
            Unlink <Text>{issuer}</Text>
          </MenuItem>
        ))}
        {person.id !== member.id && <AccessItems of={person} onSelect={setAccessChange} />}
        {/* People cannot change their own operator role, so at least one operator always remains. */}
        {person.id !== member.id && (
          <MenuItem danger={isOperator} onSelect={() => setChanging(true)}>
            {isOperator ? 'Remove operator role' : 'Make operator'}
          </MenuItem>
        )}
      </Menu>
      <ConfirmAccessChange of={person} change={accessChange} onDone={() => setAccessChange(undefined)} />
      <Confirm
        danger={isOperator}
        open={changing}
        onOpenChange={setChanging}
        title={isOperator ? 'Remove operator role?' : 'Make operator?'}
        action={isOperator ? 'Remove role' : 'Make operator'}
        of={setOperator}
        onConfirm={() => setOperator.mutate()}
      >
        <p>
          {isOperator
            ? 'Roles in organizations are kept.'
            : 'Operators have all permissions in every organization, including adding credit.'}{' '}
          All sessions of <Text className="font-medium text-ink">{person.email}</Text> are signed out.
        </p>
      </Confirm>
      <Confirm
        danger
        open={unlinking !== undefined}
        onOpenChange={() => setUnlinking(undefined)}
        title="Unlink identity provider?"
        action="Unlink"
        of={unlink}
        onConfirm={() => unlink.mutate()}
      >
        <p>
          <Email className="font-medium text-ink">{person.email}</Email> can then sign in only with a
          password, until the next single sign-on with the same verified email at <Id>{unlinking ?? ''}</Id>{' '}
          links it again. Sessions that use single sign-on are signed out.
        </p>
      </Confirm>
      <Dialog
        persistent
        open={createLink.data !== undefined}
        onOpenChange={() => createLink.reset()}
        title="Password reset link"
        description="Send it over a secure channel. It works once, expires in 1 hour, and won’t be shown again."
      >
        <div className="grid gap-4">
          <Input
            readOnly
            aria-label="Link"
            className="font-mono !text-sm"
            value={createLink.data?.link ?? ''}
          />
          <DialogActions>
            <CopyButton text={createLink.data?.link ?? ''} what="link" />
            <Button kind="primary" onClick={() => createLink.reset()}>
              Done
            </Button>
          </DialogActions>
        </div>
      </Dialog>
    </>
  );
}
