import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../../../api/client';
import { catalogueQuery } from '../../../api/platform-search';
import { blockingErrorOf } from '../../../api/transient-error';
import { Button } from '../../../ui/button';
import { DebouncedInput } from '../../../ui/debounced-input';
import { Badge } from '../../../ui/notice';
import { Empty, Failure, SkeletonRows } from '../../../ui/states';
import { Table, type Column } from '../../../ui/table';
import { Tip } from '../../../ui/tooltip';
import { Id, Text, Time, visible } from '../../../ui/values';
import { StaleFigures } from '../../credit/stale-figures';
import { modelColumns } from '../../models/model-columns';
import { ReasonDialog } from '../reason-dialog';
import { Issues } from './changes';
import type { Entry } from './entries';
import { DraftChange, EditEntry } from './entry-actions';
import { isFields, targetsOf, textOf } from './json-schema';
import type { Draft } from './use-draft';

type Catalogue = Result<'GET /api/operator/catalogue'>['catalogue'];
type Model = Catalogue['models'][number];

interface Row extends Model {
  readonly entry: Entry | undefined;
  readonly draft: Draft | undefined;
}

const route = getRouteApi('/signed-in/operator/catalogue');

const REFETCH_INTERVAL_MS = 5_000;

interface TabProps {
  /** Undefined for a catalogue in a file. */
  readonly draft?: Draft;
}

/** The models in effect and their state, and those of the draft. */
export function ModelsTab({ draft }: TabProps) {
  const query = useQuery({ ...catalogueQuery, refetchInterval: REFETCH_INTERVAL_MS });
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const entries = draft?.compare('model') ?? [];
  const byId = new Map(entries.map((entry) => [entry.name, entry]));
  if (blockingErrorOf(query))
    return <Failure error={query.error} what="models" onRetry={() => void query.refetch()} />;
  if (!query.data) return <SkeletonRows />;
  const inEffect = new Set(query.data.models.map(({ id }) => id));
  const isFound = (text: string) => text.toLowerCase().includes(find.trim().toLowerCase());
  const models = query.data.models
    .filter(({ id, name }) => isFound(`${id} ${name}`))
    .map((model) => ({ ...model, entry: byId.get(model.id), draft }));
  const others = entries.filter(({ name }) => !inEffect.has(name) && isFound(name));
  return (
    <>
      <StaleFigures of={query} />
      {query.data.rejected && (
        <Issues
          title="The latest change has errors; the previous catalogue stays active"
          of={query.data.rejected.issues}
        />
      )}
      <div className="grid gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <DebouncedInput
            type="search"
            aria-label="Search by name or ID"
            placeholder="Search by name or ID"
            className="grow sm:max-w-64"
            value={find}
            onCommit={(text) => void navigate({ search: text === '' ? {} : { find: text }, replace: true })}
          />
          {draft && <DraftActions of={draft} />}
        </div>
        {draft && others.length > 0 && (
          <Table
            caption="Models not in effect"
            rows={others.map((entry) => ({ entry, draft }))}
            columns={OTHER_COLUMNS}
            rowId={({ entry }) => `${entry.name} ${entry.index}`}
          />
        )}
        {models.length > 0 ? (
          <Table caption="Models" rows={models} columns={COLUMNS} rowId={({ id }) => id} />
        ) : find === '' ? (
          <Empty icon="layers" title="No models in effect">
            Requests get 404 until a model is published.
          </Empty>
        ) : (
          others.length === 0 && (
            <Empty icon="search" title="No matches">
              Try a different search.
            </Empty>
          )
        )}
      </div>
    </>
  );
}

function DraftActions({ of: { isRead, setDialog } }: { readonly of: Draft }) {
  return (
    <div className="flex grow flex-wrap justify-end gap-2">
      <Button disabled={!isRead} onClick={() => setDialog({ dialog: 'test' })}>
        Test a model
      </Button>
      <Button onClick={() => setDialog({ dialog: 'propose prices' })}>Propose prices</Button>
      <Button disabled={!isRead} onClick={() => setDialog({ dialog: 'add model' })}>
        Add model
      </Button>
    </div>
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
        <Badge tone="warn">Disabled in the catalogue</Badge>
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
  if (model.disabled_in_file) return null;
  return (
    <ReasonDialog
      action={model.disabled ? 'Enable' : 'Disable'}
      kind="model"
      name={model.id}
      title={<Text>{model.id}</Text>}
      description={
        model.disabled
          ? 'Every router accepts requests for this model again within seconds.'
          : 'New requests for this model fail with 404 within seconds, and the list of models leaves it out. Requests in progress finish.'
      }
      submit={(reason) =>
        api.call('PUT /api/operator/models/disabled', {
          body: { model: model.id, disabled: !model.disabled, reason },
        })
      }
    />
  );
}

const COLUMNS: readonly Column<Row>[] = [
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
        {model.entry && <DraftChange of={model.entry} />}
        <Disabled of={model} />
        <div className="mt-1 @2xl:hidden">
          <Targets of={model} />
        </div>
        {/* Not in a last column, which the prices move out of the window. */}
        <div className="mt-1 flex flex-wrap gap-2">
          <Switch of={model} />
          {model.entry && model.draft && <EditEntry of={model.entry} draft={model.draft} />}
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
  ...modelColumns<Row>(),
];

/** Entries of the draft have no state, and few of the prices. */
const OTHER_COLUMNS: readonly Column<{ readonly entry: Entry; readonly draft: Draft }>[] = [
  {
    id: 'id',
    header: 'Model',
    cell: ({
      row: {
        original: { entry, draft },
      },
    }) => (
      <div className="grid justify-items-start gap-1">
        <Text className="font-medium">{entry.name}</Text>
        <DraftChange of={entry} />
        <div className="flex flex-wrap gap-2">
          <EditEntry of={entry} draft={draft} />
        </div>
      </div>
    ),
  },
  {
    id: 'targets',
    header: 'Targets, in order',
    cell: ({ row: { original } }) => <Text>{targetsOf(original.entry.fields).join(', ')}</Text>,
  },
  {
    id: 'prices',
    header: 'Input / output, per 1M',
    meta: { figures: true, hide: 'phone' },
    cell: ({ row: { original } }) => {
      const prices = original.entry.fields['prices'];
      return isFields(prices) ? `$${textOf(prices['input'])} / $${textOf(prices['output'])}` : '—';
    },
  },
];
