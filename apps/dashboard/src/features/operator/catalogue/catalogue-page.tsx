import { useQuery } from '@tanstack/react-query';
import { Code } from '../../../ui/code';
import { Badge, Notice } from '../../../ui/notice';
import { Fact, Facts, Page, Section } from '../../../ui/page';
import { Failure, SkeletonRows } from '../../../ui/states';
import { Table, type Column } from '../../../ui/table';
import { buttonClass } from '../../../ui/button';
import { Icon } from '../../../ui/icons';
import { Text, Time } from '../../../ui/values';
import { catalogueState, type CatalogueRouter, type CatalogueState } from './catalogue-state';
import { Draft } from './draft';
import { History } from './history';
import { Secrets } from './secrets';

/** The catalogue of models, providers and prices: read-only for a file; with draft, history and secrets in the database. */
export function CataloguePage() {
  const query = useQuery(catalogueState);
  const state = query.data;
  return (
    <Page
      title="Catalogue"
      description="Providers, models and prices."
      actions={
        state && (
          <a className={buttonClass()} href="/api/operator/catalogue/export" download>
            <Icon name="download" />
            Export YAML
          </a>
        )
      }
    >
      {query.error && !state ? (
        <Failure error={query.error} what="the catalogue" onRetry={() => void query.refetch()} />
      ) : !state ? (
        <SkeletonRows />
      ) : state.source === 'file' ? (
        <ReadOnly of={state} />
      ) : (
        <>
          <InEffect of={state} />
          <Draft of={state} />
          <Secrets of={state} />
          <History current={state.version?.version ?? 0} />
        </>
      )}
    </Page>
  );
}

function ReadOnly({ of: { text } }: { readonly of: CatalogueState }) {
  return (
    <>
      <Notice title="Read-only: the catalogue is the models file">
        Edit the file to change it; it is reloaded automatically. To change the catalogue here, set
        GATEWAY_CATALOGUE=database: the file is then imported as version 1.
      </Notice>
      <Section title="Text in effect">
        <Code text={text} what="catalogue" />
      </Section>
    </>
  );
}

function InEffect({ of: { version, routers } }: { readonly of: CatalogueState }) {
  return (
    <Section title="In effect">
      <Facts>
        <Fact name="Version">
          {version === null ? (
            'None yet: requests get 404 until a version is published.'
          ) : (
            <>
              {version.version}, published <Time at={version.published_at} /> by{' '}
              <Text>{version.published_by}</Text>: <Text>{version.comment}</Text>
            </>
          )}
        </Fact>
      </Facts>
      <Table caption="Routers" rows={routers} columns={ROUTER_COLUMNS} rowId={({ name }) => name} />
    </Section>
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
