import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import { count, counted } from '../../format/count';
import { Badge, Notice } from '../../ui/notice';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Tip } from '../../ui/tooltip';
import { Id, Money, Text, Time, visible } from '../../ui/values';

type Catalogue = Result<'GET /api/operator/catalogue'>['catalogue'];
type Model = Catalogue['models'][number];

/** The file is watched; this page follows it. */
const FOLLOW_MS = 5_000;

export function ModelsPage() {
  const query = useQuery({
    queryKey: ['catalogue'],
    queryFn: async ({ signal }) => (await api.call('GET /api/operator/catalogue', { signal })).catalogue,
    refetchInterval: FOLLOW_MS,
  });
  return (
    <Page title="Models" description="The catalogue as it is loaded. It is changed in its file, not here.">
      {query.error ? (
        <Failure error={query.error} what="the catalogue" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows />
      ) : (
        <>
          {query.data.refused && <Refused refused={query.data.refused} file={query.data.file} />}
          {query.data.models.length === 0 ? (
            <Empty icon="layers" title="The catalogue is empty">
              Add a model with its provider and prices to <Id>{query.data.file}</Id>. It is read again by
              itself.
            </Empty>
          ) : (
            <Table caption="Models" rows={query.data.models} columns={COLUMNS} rowId={({ id }) => id} />
          )}
          <Section title="File">
            <Facts>
              <Fact name="Name">
                <Id>{query.data.file}</Id>
              </Fact>
              <Fact name="Loaded">
                <Time at={query.data.loaded_at} />
              </Fact>
              <Fact name="Version">
                <Id>{String(query.data.version)}</Id>
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

function Refused({
  refused,
  file,
}: {
  readonly refused: NonNullable<Catalogue['refused']>;
  readonly file: string;
}) {
  return (
    <Notice tone="bad" title="A change of the file was refused; what was before stays in force">
      <p>
        Since <Time at={refused.since} />. Mend <Id>{file}</Id>, and it is read again by itself.
      </p>
      <ul className="mt-2 grid gap-1">
        {refused.faults.map((fault, index) => (
          <li key={index} className="flex gap-3">
            <span className="figures w-16 shrink-0 text-ink-soft">
              {fault.line === null ? 'file' : `line ${fault.line}`}
            </span>
            <Text>{fault.message}</Text>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Targets({ of: { targets } }: { readonly of: Model }) {
  return (
    <ol className="grid gap-0.5">
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
        {model.disabled && <Badge tone="warn">Disabled</Badge>}
        <div className="mt-1 sm:hidden">
          <Targets of={model} />
        </div>
      </div>
    ),
  },
  {
    id: 'targets',
    header: 'Targets, as they are tried',
    enableSorting: false,
    meta: { hide: 'phone' },
    cell: ({ row: { original: model } }) => <Targets of={model} />,
  },
  {
    id: 'capabilities',
    header: 'Can',
    enableSorting: false,
    meta: { hide: 'tablet' },
    cell: ({ row: { original: model } }) => (
      <div className="flex max-w-52 flex-wrap gap-1">
        {model.capabilities.map((one) => (
          <Badge key={one}>{one.replaceAll('_', ' ')}</Badge>
        ))}
        {model.capabilities.length === 0 && <span className="text-ink-faint">Text alone</span>}
      </div>
    ),
  },
  {
    id: 'context',
    header: 'Context',
    accessorFn: ({ context_length: length }) => length,
    meta: { figures: true, hide: 'tablet' },
    cell: ({ row: { original: model } }) => (
      <>
        {count(model.context_length)}
        <p className="text-xs text-ink-faint">{counted(model.max_output_tokens, 'token')} out</p>
      </>
    ),
  },
  ...(
    [
      { key: 'input_usd_per_million', header: 'Input' },
      { key: 'cached_input_usd_per_million', header: 'Cached' },
      { key: 'output_usd_per_million', header: 'Output' },
      { key: 'reasoning_usd_per_million', header: 'Reasoning' },
    ] as const
  ).map(({ key, header }): Column<Model> => ({
    id: key,
    header: `${header} / M`,
    enableSorting: false,
    meta: {
      figures: true,
      usd: ({ prices }) => prices[key],
      ...(key === 'input_usd_per_million' || key === 'output_usd_per_million'
        ? {}
        : { hide: 'tablet' as const }),
    },
    cell: ({ row: { original: model } }) => <Money usd={model.prices[key]} />,
  })),
];
