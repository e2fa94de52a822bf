import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { catalogueQuery } from '../../../api/platform-search';
import { buttonClass } from '../../../ui/button';
import { Icon } from '../../../ui/icons';
import { Notice } from '../../../ui/notice';
import { Page } from '../../../ui/page';
import { UnsavedChanges } from '../../../ui/unsaved-changes';
import { Id, Time } from '../../../ui/values';
import { Failure, SkeletonRows } from '../../../ui/states';
import { catalogueState, type CatalogueState } from './catalogue-state';
import { DraftBar } from './draft-bar';
import { DraftDialog } from './draft-dialog';
import { History } from './history';
import { ModelsTab } from './models-tab';
import { ProvidersTab } from './providers-tab';
import type { CatalogueTab } from './search';
import { useDraft } from './use-draft';
import { ReadOnlyYaml, YamlTab } from './yaml-tab';

const route = getRouteApi('/signed-in/operator/catalogue');

const TABS: readonly { readonly tab: CatalogueTab; readonly label: string }[] = [
  { tab: 'models', label: 'Models' },
  { tab: 'providers', label: 'Providers' },
  { tab: 'yaml', label: 'YAML' },
  { tab: 'history', label: 'History' },
];

/** Models, providers and prices: read-only for a file; with draft, history and secrets in the database. */
export function CataloguePage() {
  const query = useQuery(catalogueState);
  const { tab = 'models' } = route.useSearch();
  const state = query.data;
  const label = TABS.find((one) => one.tab === tab)?.label;
  return (
    <Page
      title={`${label} · Catalogue`}
      heading="Catalogue"
      description="Models, their prices, and the providers that serve them."
      actions={
        <a className={buttonClass()} href="/api/operator/catalogue/export" download>
          <Icon name="download" />
          Export YAML
        </a>
      }
    >
      {query.error && !state ? (
        <Failure error={query.error} what="the catalogue" onRetry={() => void query.refetch()} />
      ) : !state ? (
        <SkeletonRows />
      ) : state.source === 'file' ? (
        <OfFile state={state} tab={tab} />
      ) : (
        <OfDatabase state={state} tab={tab} />
      )}
    </Page>
  );
}

interface CatalogueProps {
  readonly state: CatalogueState;
  readonly tab: CatalogueTab;
}

function OfFile({ state, tab }: CatalogueProps) {
  const { data: inEffect } = useQuery(catalogueQuery);
  return (
    <>
      <Tabs of={TABS.filter((one) => one.tab !== 'history')} shown={tab} />
      <Notice title="Read-only: the catalogue is the models file">
        {inEffect && (
          <>
            Edit <Id>{inEffect.file}</Id> to change it; it was loaded <Time at={inEffect.loaded_at} /> and is
            reloaded automatically.{' '}
          </>
        )}
        To change the catalogue here, set GATEWAY_CATALOGUE=database: the file is then imported as version 1.
      </Notice>
      {tab === 'providers' ? <ProvidersTab /> : tab === 'yaml' ? <ReadOnlyYaml of={state} /> : <ModelsTab />}
    </>
  );
}

function OfDatabase({ state, tab }: CatalogueProps) {
  const draft = useDraft(state);
  return (
    <>
      <Tabs of={TABS} shown={tab} />
      {tab !== 'history' && <DraftBar of={draft} />}
      <UnsavedChanges when={draft.edit.isEdited}>
        The edited catalogue is not saved as a draft.
      </UnsavedChanges>
      {tab === 'models' && <ModelsTab draft={draft} />}
      {tab === 'providers' && <ProvidersTab draft={draft} />}
      {tab === 'yaml' && <YamlTab draft={draft} />}
      {tab === 'history' && <History of={state} />}
      <DraftDialog of={draft} />
    </>
  );
}

/** Links, so that each tab has an address. */
function Tabs({ of, shown }: { readonly of: typeof TABS; readonly shown: CatalogueTab }) {
  return (
    <nav aria-label="Catalogue" className="-mt-2 flex gap-1 overflow-x-auto border-b border-line">
      {of.map(({ tab, label }) => (
        <Link
          key={tab}
          to="/operator/catalogue"
          search={{ tab }}
          aria-current={tab === shown ? 'page' : undefined}
          className="-mb-px border-b-2 border-transparent px-3 py-2 text-sm text-ink-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
