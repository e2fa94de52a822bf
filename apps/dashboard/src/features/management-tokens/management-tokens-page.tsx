import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { managementTokensQuery, type ManagementToken } from '../../api/management-tokens';
import { blockingErrorOf } from '../../api/transient-error';
import { LoadMore } from '../../ui/load-more';
import { Badge } from '../../ui/notice';
import { Page } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Tip } from '../../ui/tooltip';
import { Day, Email, Id, Text, TimeOrNever } from '../../ui/values';
import { CreateManagementToken } from './create-management-token';
import { RevokeManagementToken } from './revoke-management-token';

const route = getRouteApi('/signed-in/o/$organizationId/management-tokens');

/** The tokens of an organization. */
export function ManagementTokensPage() {
  const { organizationId } = route.useParams();
  return (
    <TokensPage
      title="Management tokens"
      description="Scripts use them to manage this organization through the dashboard API. They cannot manage API keys."
      organizationId={organizationId}
    />
  );
}

/** The tokens of the platform. */
export function PlatformTokensPage() {
  return (
    <TokensPage
      title="Platform tokens"
      description="Scripts use them to operate the platform through the dashboard API. They cannot manage API keys."
      organizationId={undefined}
    />
  );
}

interface TokensPageProps {
  readonly title: string;
  readonly description: string;
  readonly organizationId: string | undefined;
}

function TokensPage({ title, description, organizationId }: TokensPageProps) {
  const query = useInfiniteQuery(managementTokensQuery(organizationId));
  const tokens = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Page
      title={title}
      description={description}
      actions={<CreateManagementToken organizationId={organizationId} />}
    >
      <div className="grid gap-3">
        {blockingErrorOf(query) ? (
          <Failure error={query.error} what="management tokens" onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <SkeletonRows />
        ) : tokens.length === 0 ? (
          <Empty icon="tool" title="No management tokens yet">
            Create one for each script. A token works while the person who created it keeps their role.
          </Empty>
        ) : (
          <Table
            middle
            caption={title}
            rows={tokens}
            columns={columnsOf(organizationId)}
            rowId={({ id }) => id}
          />
        )}
        <LoadMore of={query} />
      </div>
    </Page>
  );
}

const STATES = {
  active: { tone: 'good', label: 'Active', tip: undefined },
  expired: { tone: 'warn', label: 'Expired', tip: undefined },
  revoked: { tone: 'bad', label: 'Revoked', tip: undefined },
  creator_without_access: {
    tone: 'warn',
    label: 'Creator lost access',
    tip: 'The person who created it has left, is disabled, or has another role.',
  },
} as const;

function columnsOf(organizationId: string | undefined): readonly Column<ManagementToken>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      accessorFn: ({ name }) => name.toLowerCase(),
      cell: ({ row: { original: token } }) => (
        <div className="min-w-32">
          <Text className="font-medium">{token.name}</Text>
          <p className="text-xs text-ink-faint">
            <Id>{`mk-gw-…${token.last4}`}</Id>
          </p>
          <div className="mt-1 @2xl:hidden">
            <State of={token} />
          </div>
        </div>
      ),
    },
    {
      id: 'state',
      header: 'Status',
      enableSorting: false,
      meta: { hide: 'phone' },
      cell: ({ row: { original: token } }) => <State of={token} />,
    },
    {
      id: 'permissions',
      header: 'Permissions',
      enableSorting: false,
      meta: { hide: 'phone' },
      cell: ({ row: { original: token } }) => (
        <>
          <span className="capitalize">{token.role}</span>
          <p className="text-xs text-ink-faint">{token.access === 'read' ? 'Read' : 'Read and change'}</p>
        </>
      ),
    },
    {
      id: 'by',
      header: 'Created by',
      enableSorting: false,
      meta: { hide: 'tablet' },
      cell: ({ row: { original: token } }) =>
        token.created_by === null ? 'An operator' : <Email>{token.created_by}</Email>,
    },
    {
      id: 'used',
      header: 'Last used',
      accessorFn: ({ last_used_at: at }) => at ?? '',
      meta: { hide: 'phone' },
      cell: ({ row: { original: token } }) => <TimeOrNever at={token.last_used_at} />,
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      enableSorting: false,
      meta: { className: 'text-right' },
      cell: ({ row: { original: token } }) =>
        token.state !== 'revoked' && <RevokeManagementToken of={token} organizationId={organizationId} />,
    },
  ];
}

function State({ of: token }: { readonly of: ManagementToken }) {
  const { tone, label, tip } = STATES[token.state];
  const badge = <Badge tone={tone}>{label}</Badge>;
  if (tip !== undefined) {
    return (
      <Tip text={tip}>
        <span tabIndex={0}>{badge}</span>
      </Tip>
    );
  }
  return (
    <div className="grid justify-items-start gap-0.5">
      {badge}
      {token.state === 'active' && (
        <span className="text-xs text-ink-faint">
          Expires <Day on={token.expires_on} />
        </span>
      )}
    </div>
  );
}
