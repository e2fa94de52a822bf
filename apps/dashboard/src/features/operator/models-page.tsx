import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { catalogueQuery } from '../../api/platform-search';
import { blockingErrorOf } from '../../api/transient-error';
import { Button } from '../../ui/button';
import { DebouncedInput } from '../../ui/debounced-input';
import { Dialog } from '../../ui/dialog';
import { Badge, Notice } from '../../ui/notice';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Tip } from '../../ui/tooltip';
import { Id, Text, Time, visible } from '../../ui/values';
import { StaleFigures } from '../credit/stale-figures';
import { modelColumns } from '../models/model-columns';
import { ReasonForm } from './reason-form';

type Catalogue = Result<'GET /api/operator/catalogue'>['catalogue'];
type Model = Catalogue['models'][number];

const route = getRouteApi('/signed-in/operator/models');

const REFETCH_INTERVAL_MS = 5_000;

export function ModelsPage() {
  const query = useQuery({ ...catalogueQuery, refetchInterval: REFETCH_INTERVAL_MS });
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const models = query.data?.models.filter(({ id, name }) =>
    `${id} ${name}`.toLowerCase().includes(find.trim().toLowerCase()),
  );
  return (
    <Page title="Models" description={query.data ? <ChangedWhere catalogue={query.data} /> : undefined}>
      {blockingErrorOf(query) ? (
        <Failure error={query.error} what="model catalogue" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows />
      ) : (
        <>
          <StaleFigures of={query} />
          {query.data.rejected && <RejectedChange rejected={query.data.rejected} />}
          {query.data.models.length === 0 ? (
            <Empty icon="layers" title="No models yet">
              <ChangedWhere catalogue={query.data} />
            </Empty>
          ) : (
            <div className="grid gap-3">
              <DebouncedInput
                type="search"
                aria-label="Search by name or ID"
                placeholder="Search by name or ID"
                className="sm:w-64"
                value={find}
                onCommit={(text) =>
                  void navigate({ search: text === '' ? {} : { find: text }, replace: true })
                }
              />
              {models?.length === 0 ? (
                <Empty icon="search" title="No matches">
                  Try a different search.
                </Empty>
              ) : (
                <Table caption="Models" rows={models ?? []} columns={COLUMNS} rowId={({ id }) => id} />
              )}
            </div>
          )}
          <Section title="Source">
            <Facts>
              {query.data.published_version === null ? (
                <Fact name="File">
                  <Id>{query.data.file}</Id>
                </Fact>
              ) : (
                <Fact name="Published version">{query.data.published_version}</Fact>
              )}
              <Fact name="Loaded">
                <Time at={query.data.loaded_at} />
              </Fact>
              <Fact name="SHA-256">
                <Id>{query.data.sha256}</Id>
              </Fact>
            </Facts>
          </Section>
        </>
      )}
    </Page>
  );
}

/** Why the page is read-only, and where the catalogue is changed. */
export function ChangedWhere({
  catalogue: { published_version: version, file },
}: {
  readonly catalogue: Pick<Catalogue, 'published_version' | 'file'>;
}) {
  if (version !== null) {
    return (
      <>
        Change models and prices on the page{' '}
        <Link to="/operator/catalogue" className="font-medium text-accent hover:underline">
          Catalogue
        </Link>
        .
      </>
    );
  }
  return (
    <>
      Read-only, since the catalogue is a file: edit <Id>{file}</Id> to change it. It is reloaded
      automatically.
    </>
  );
}

function RejectedChange({ rejected }: { readonly rejected: NonNullable<Catalogue['rejected']> }) {
  return (
    <Notice tone="bad" title="The latest change has errors; the previous catalogue stays active">
      <p>
        Since <Time at={rejected.since} />.
      </p>
      <ul className="mt-2 grid gap-1">
        {rejected.issues.map((issue, index) => (
          <li key={index} className="flex gap-3">
            <span className="figures w-16 shrink-0 text-ink-soft">
              {issue.line === null ? 'File' : `Line ${issue.line}`}
            </span>
            <Text>{issue.message}</Text>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Targets({ of: { targets } }: { readonly of: Model }) {
  return (
    <ol className="grid gap-0.5 sm:min-w-36">
      {targets.map((target, index) => (
        <li key={index} className="text-xs">
          <span className={target.drained ? 'text-ink-faint line-through' : undefined}>
            <Text>{target.provider}</Text> <Id className="text-ink-faint">{target.provider_model}</Id>
          </span>
          {target.drained && (
            <Tip text={`Drained by ${visible(target.drained.by)}: ${visible(target.drained.reason)}`}>
              <span tabIndex={0} className="ml-1">
                <Badge tone="warn">Drained</Badge>
              </span>
            </Tip>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Whether the model is disabled, and by whom. The switch cannot enable what the catalogue disables. */
function Disabled({ of: model }: { readonly of: Model }) {
  if (!model.disabled) return null;
  const off = model.switched_off;
  return (
    <div className="grid justify-items-start gap-0.5">
      {model.disabled_in_file ? (
        <Link to="/operator/catalogue">
          <Badge tone="warn">Disabled in the catalogue</Badge>
        </Link>
      ) : (
        <Badge tone="warn">Disabled</Badge>
      )}
      {off && (
        <p className="text-xs text-ink-soft">
          <Time at={off.since} /> by <Text>{off.by}</Text>: <Text>{off.reason}</Text>
        </p>
      )}
    </div>
  );
}

function Switch({ of: model }: { readonly of: Model }) {
  const [open, setOpen] = useState(false);
  if (model.disabled_in_file) return null;
  const action = model.disabled ? 'Enable' : 'Disable';
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        {action}
        <span className="sr-only"> {visible(model.id)}</span>
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={
          <>
            {action} <Text>{model.id}</Text>
          </>
        }
        description={
          model.disabled
            ? 'Every router accepts requests for this model again within seconds.'
            : 'New requests for this model fail with 404 within seconds, and the list of models leaves it out. Requests in progress finish.'
        }
      >
        <ReasonForm
          shownAt="model"
          action={action}
          danger={!model.disabled}
          submit={(reason) =>
            api.call('PUT /api/operator/models/disabled', {
              body: { model: model.id, disabled: !model.disabled, reason },
            })
          }
          onDone={() => setOpen(false)}
        />
      </Dialog>
    </>
  );
}

const COLUMNS: readonly Column<Model>[] = [
  {
    id: 'id',
    header: 'Model',
    accessorFn: ({ id }) => id,
    cell: ({ row: { original: model } }) => (
      <div className="sm:min-w-40">
        <Text className="font-medium">{model.id}</Text>
        <p className="text-xs text-ink-faint">
          <Text>{model.name}</Text>
        </p>
        <Disabled of={model} />
        <div className="mt-1 @2xl:hidden">
          <Targets of={model} />
        </div>
        {/* Not in a last column, which the prices move out of the window. */}
        <div className="mt-1">
          <Switch of={model} />
        </div>
      </div>
    ),
  },
  {
    id: 'targets',
    header: 'Targets, in order',
    enableSorting: false,
    meta: { hide: 'phone' },
    cell: ({ row: { original: model } }) => <Targets of={model} />,
  },
  ...modelColumns<Model>(),
];
