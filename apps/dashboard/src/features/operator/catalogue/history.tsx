import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { Code } from '../../../ui/code';
import { Dialog } from '../../../ui/dialog';
import { LoadMore } from '../../../ui/load-more';
import { Badge } from '../../../ui/notice';
import { Section } from '../../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../../ui/states';
import { Table, type Column } from '../../../ui/table';
import { Text, Time } from '../../../ui/values';
import type { CatalogueRouter, CatalogueState } from './catalogue-state';
import { Changes } from './changes';
import { Publish } from './publish';

type Version = Result<'GET /api/operator/catalogue/versions'>['data'][number];

const PAGE_SIZE = '20';

/** What the routers run, the published versions, what each changed, and the way back to one. */
export function History({ of: state }: { readonly of: CatalogueState }) {
  return (
    <>
      <Section title="Routers">
        <Table caption="Routers" rows={state.routers} columns={ROUTER_COLUMNS} rowId={({ name }) => name} />
      </Section>
      <Versions current={state.version?.version ?? 0} />
    </>
  );
}

const ROUTER_COLUMNS: readonly Column<CatalogueRouter>[] = [
  { id: 'router', header: 'Router', cell: ({ row }) => <Text>{row.original.name}</Text> },
  {
    id: 'version',
    header: 'Runs version',
    cell: ({ row: { original: router } }) => (
      <>
        {router.version}{' '}
        {router.rejected_version !== null && (
          <Badge tone="bad">{`Cannot load version ${router.rejected_version}`}</Badge>
        )}
      </>
    ),
  },
  { id: 'loaded', header: 'Loaded', cell: ({ row }) => <Time at={row.original.loaded_at} /> },
];

function Versions({ current }: { readonly current: number }) {
  const query = useInfiniteQuery({
    queryKey: ['catalogue-versions'],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/operator/catalogue/versions', {
        query: { page_size: PAGE_SIZE, page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_page_token,
  });
  const versions = query.data?.pages.flatMap(({ data }) => data);
  return (
    <Section title="Versions">
      {query.error && !versions ? (
        <Failure error={query.error} what="the versions" onRetry={() => void query.refetch()} />
      ) : !versions ? (
        <SkeletonRows />
      ) : versions.length === 0 ? (
        <p className="text-sm text-ink-soft">No versions yet: requests get 404 until one is published.</p>
      ) : (
        <>
          <Table
            caption="Versions"
            rows={versions}
            columns={columnsFor(current)}
            rowId={({ version }) => String(version)}
          />
          <LoadMore of={query} />
        </>
      )}
    </Section>
  );
}

function Actions({ of, current }: { readonly of: Version; readonly current: number }) {
  const [shown, setShown] = useState(false);
  const [rollingBack, setRollingBack] = useState(false);
  return (
    <div className="flex justify-end gap-2">
      <Button small onClick={() => setShown(true)}>
        Show
        <span className="sr-only"> version {of.version}</span>
      </Button>
      {of.version !== current && (
        <Button small onClick={() => setRollingBack(true)}>
          Roll back
          <span className="sr-only"> to version {of.version}</span>
        </Button>
      )}
      <Dialog open={shown} onOpenChange={setShown} title={`Version ${of.version}`} wide>
        <ShownVersion version={of.version} />
      </Dialog>
      <Dialog
        open={rollingBack}
        onOpenChange={setRollingBack}
        title={`Roll back to version ${of.version}`}
        description="Its text is published again as a new version. Every router runs it within a second."
        wide
      >
        <RollBack version={of.version} current={current} onDone={() => setRollingBack(false)} />
      </Dialog>
    </div>
  );
}

const versionQuery = (version: number) =>
  queryOptions({
    queryKey: ['catalogue-versions', version],
    queryFn: ({ signal }) =>
      api.call('GET /api/operator/catalogue/versions/{version}', {
        params: { version: String(version) },
        signal,
      }),
  });

function ShownVersion({ version }: { readonly version: number }) {
  const query = useQuery(versionQuery(version));
  if (query.error) return <FailureLine error={query.error} />;
  if (!query.data) return <SkeletonRows />;
  return (
    <div className="grid min-w-0 gap-4">
      <Changes of={query.data.changes} />
      <Code text={query.data.text} what={`version ${version}`} />
    </div>
  );
}

interface RollBackProps {
  readonly version: number;
  readonly current: number;
  readonly onDone: () => void;
}

function RollBack({ version, current, onDone }: RollBackProps) {
  const query = useQuery(versionQuery(version));
  if (query.error) return <FailureLine error={query.error} />;
  if (!query.data) return <SkeletonRows />;
  return (
    <Publish
      text={query.data.text}
      action="Roll back"
      publish={(comment) =>
        api.call('POST /api/operator/catalogue/roll-back', {
          body: { version, expected_version: current, comment },
        })
      }
      onDone={onDone}
    />
  );
}

function columnsFor(current: number): readonly Column<Version>[] {
  return [
    {
      id: 'version',
      header: 'Version',
      cell: ({ row: { original: version } }) => (
        <div>
          <span className="font-medium">{version.version}</span>{' '}
          {version.version === current && <Badge tone="good">In effect</Badge>}
          {version.restored_version !== null && (
            <span className="text-xs text-ink-soft"> (text of version {version.restored_version})</span>
          )}
          <p className="text-xs text-ink-soft">
            <Text>{version.comment}</Text>
          </p>
        </div>
      ),
    },
    {
      id: 'published',
      header: 'Published',
      meta: { hide: 'phone' },
      cell: ({ row: { original: version } }) => (
        <>
          <Time at={version.published_at} /> by <Text>{version.published_by}</Text>
        </>
      ),
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row }) => <Actions of={row.original} current={current} />,
    },
  ];
}
