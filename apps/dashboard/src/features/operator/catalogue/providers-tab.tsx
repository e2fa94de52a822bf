import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { count, counted, percent } from '../../../format/count';
import { duration, estimatedDuration } from '../../../format/time';
import { Button } from '../../../ui/button';
import { Meter } from '../../../ui/meter';
import { Badge } from '../../../ui/notice';
import { Section } from '../../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../../ui/states';
import { Table, type Column } from '../../../ui/table';
import { Tip } from '../../../ui/tooltip';
import { Id, Text, Time, visible } from '../../../ui/values';
import { StaleFigures } from '../../credit/stale-figures';
import { ReasonDialog } from '../reason-dialog';
import type { Entry } from './entries';
import { DraftChange, EditEntry } from './entry-actions';
import { textOf } from './json-schema';
import { Secrets } from './secrets';
import type { Draft } from './use-draft';

type Health = Result<'GET /api/operator/providers'>['health'];
type TargetHealth = Health['targets'][number];

const REFETCH_INTERVAL_MS = 2_000;

interface TabProps {
  /** Undefined for a catalogue in a file. */
  readonly draft?: Draft;
}

/** The providers, the health of their targets, and their stored API keys. */
export function ProvidersTab({ draft }: TabProps) {
  const query = useQuery({
    queryKey: ['provider-health'],
    queryFn: async ({ signal }) => (await api.call('GET /api/operator/providers', { signal })).health,
    refetchInterval: REFETCH_INTERVAL_MS,
  });
  if (query.error && !query.data)
    return <Failure error={query.error} what="provider health" onRetry={() => void query.refetch()} />;
  if (!query.data) return <SkeletonRows />;
  const health = query.data;
  return (
    <>
      <StaleFigures of={query} />
      <Section
        title="Providers"
        actions={
          draft && (
            <Button disabled={!draft.isRead} onClick={() => draft.setDialog({ dialog: 'add provider' })}>
              Add provider
            </Button>
          )
        }
      >
        <Table
          caption="Providers"
          rows={providersOf(health, draft)}
          columns={PROVIDER_COLUMNS}
          rowId={({ name, entry }) => `${name} ${entry?.index}`}
          middle
        />
      </Section>
      <Section
        title="Targets"
        description={`The last ${duration(health.window_ms)}, as reported by ${health.instance}.`}
      >
        {health.targets.length === 0 ? (
          <Empty icon="pulse" title="No targets yet">
            Targets of the models in effect appear here.
          </Empty>
        ) : (
          <Table
            caption="Targets"
            rows={health.targets}
            columns={COLUMNS}
            rowId={({ provider, provider_model: model }) => `${provider} ${model}`}
          />
        )}
      </Section>
      {draft && <Secrets of={draft.state} />}
    </>
  );
}

interface ProviderRow {
  readonly name: string;
  /** Undefined for a provider that is not in effect. */
  readonly calls?: Health['providers'][number] | undefined;
  readonly entry?: Entry;
  readonly draft?: Draft;
}

function providersOf({ providers }: Health, draft: Draft | undefined): readonly ProviderRow[] {
  const entries = draft?.compare('provider') ?? [];
  const inDraft = new Set(entries.map(({ name }) => name));
  return [
    ...entries.map((entry) => ({
      ...{ name: entry.name, entry, ...(draft && { draft }) },
      calls: providers.find(({ name }) => name === entry.name),
    })),
    ...providers.filter(({ name }) => !inDraft.has(name)).map((calls) => ({ name: calls.name, calls })),
  ];
}

const PROVIDER_COLUMNS: readonly Column<ProviderRow>[] = [
  {
    id: 'name',
    header: 'Provider',
    cell: ({
      row: {
        original: { name, entry },
      },
    }) => (
      <div className="grid justify-items-start gap-0.5">
        <Text className="font-medium">{name}</Text>
        {entry && (
          <>
            <span className="text-xs text-ink-faint">
              <Text>
                {[entry.fields['preset'], entry.fields['base_url']].map(textOf).filter(Boolean).join(' · ')}
              </Text>
            </span>
            {entry.fields['disabled'] === true && <Badge tone="warn">Disabled in the catalogue</Badge>}
            <DraftChange of={entry} />
          </>
        )}
      </div>
    ),
  },
  {
    id: 'in-flight',
    header: 'Requests in flight',
    cell: ({
      row: {
        original: { name, calls },
      },
    }) =>
      calls && (
        <div className="grid max-w-56 gap-1">
          <span className="figures text-xs text-ink-soft">
            {count(calls.calls_in_flight)} of {count(calls.max_concurrent)}
          </span>
          <Meter
            label={`Requests in flight at ${visible(name)}`}
            value={calls.calls_in_flight}
            max={calls.max_concurrent}
          />
        </div>
      ),
  },
  {
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    cell: ({
      row: {
        original: { entry, draft },
      },
    }) =>
      entry &&
      draft && (
        <div className="flex flex-wrap justify-end gap-2">
          <EditEntry of={entry} draft={draft} />
        </div>
      ),
  },
];

/** Above this share of failures, a target is not shown as healthy. */
const SOME_FAILURES = 0.05;
const MOST_FAILURES = 0.5;

const BREAKERS = {
  half_open: {
    tone: 'warn',
    label: 'Recovering',
    meaning: 'The circuit is half-open: a few requests test the target.',
  },
  open: { tone: 'bad', label: 'Circuit open', meaning: 'Too many failures; requests go to the next target.' },
} as const;

/** Only recent successes show that a target is healthy. */
export function statusOf({ breaker, calls, failures }: Pick<TargetHealth, 'breaker' | 'calls' | 'failures'>) {
  if (breaker !== 'closed') return BREAKERS[breaker];
  if (calls === 0)
    return {
      tone: 'plain',
      label: 'No requests',
      meaning: 'No recent request shows whether it works.',
    } as const;
  const share = failures / calls;
  if (share >= MOST_FAILURES)
    return { tone: 'bad', label: 'Failing', meaning: 'Most recent requests failed.' } as const;
  if (share > SOME_FAILURES)
    return { tone: 'warn', label: 'Some failures', meaning: 'Some recent requests failed.' } as const;
  return { tone: 'good', label: 'Healthy', meaning: 'Recent requests succeeded.' } as const;
}

const COLUMNS: readonly Column<TargetHealth>[] = [
  {
    id: 'target',
    header: 'Target',
    cell: ({ row: { original: target } }) => (
      <div className="sm:min-w-36">
        <Text className="font-medium">{target.provider}</Text>
        <p className="text-xs text-ink-faint">
          <Id>{target.provider_model}</Id>
        </p>
        <p className="text-xs text-ink-soft @2xl:hidden">
          {counted(target.calls, 'request')}
          {target.failures > 0 && <span className="text-bad">, {count(target.failures)} failed</span>}
        </p>
      </div>
    ),
  },
  {
    id: 'state',
    header: 'Status',
    cell: ({ row: { original: target } }) => (
      <div className="grid justify-items-start gap-1">
        {target.drained ? (
          <>
            <Badge tone="warn">Drained</Badge>
            <span className="text-xs text-ink-soft">
              <Time at={target.drained.since} /> by <Text>{target.drained.by}</Text>:{' '}
              <Text>{target.drained.reason}</Text>
            </span>
          </>
        ) : (
          <Status of={target} />
        )}
        {target.open_for_organizations > 0 && (
          <span className="text-xs text-ink-soft">
            Circuit open for {counted(target.open_for_organizations, 'organization')}
          </span>
        )}
      </div>
    ),
  },
  {
    id: 'calls',
    header: 'Requests',
    meta: { figures: true, hide: 'phone' },
    cell: ({ row: { original: target } }) => (
      <>
        {count(target.calls)}
        <p className="text-xs text-ink-faint">{count(target.calls_in_flight)} in flight</p>
      </>
    ),
  },
  {
    id: 'failures',
    header: 'Failed',
    meta: { figures: true, hide: 'phone' },
    cell: ({ row: { original: target } }) => {
      const kinds = Object.entries(target.failures_by_kind);
      const text =
        target.calls === 0 ? '—' : `${count(target.failures)} (${percent(target.failures / target.calls)})`;
      if (kinds.length === 0) return text;
      return (
        <Tip text={kinds.map(([kind, number]) => `${kind.replaceAll('_', ' ')}: ${number}`).join(', ')}>
          <span tabIndex={0} className={target.failures > 0 ? 'text-bad' : undefined}>
            {text}
          </span>
        </Tip>
      );
    },
  },
  {
    id: 'latency',
    header: 'Time to first event, p50 / p95',
    meta: { figures: true, hide: 'tablet' },
    cell: ({ row: { original: target } }) =>
      target.first_event === null
        ? '—'
        : `${estimatedDuration(target.first_event.p50_ms)} / ${estimatedDuration(target.first_event.p95_ms)}`,
  },
  {
    id: 'models',
    header: 'Models',
    meta: { hide: 'tablet' },
    cell: ({ row: { original: target } }) => (
      <ul className="text-xs">
        {target.models.map((id) => (
          <li key={id}>
            <Id>{id}</Id>
          </li>
        ))}
      </ul>
    ),
  },
  {
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    meta: { className: 'text-right' },
    cell: ({ row: { original: target } }) => <Drain of={target} />,
  },
];

function Status({ of: target }: { readonly of: TargetHealth }) {
  const { tone, label, meaning } = statusOf(target);
  return (
    <Tip text={meaning}>
      <span tabIndex={0}>
        <Badge tone={tone}>{label}</Badge>
      </span>
    </Tip>
  );
}

function Drain({ of: { provider, provider_model: model, drained } }: { readonly of: TargetHealth }) {
  return (
    <ReasonDialog
      action={drained ? 'Resume' : 'Drain'}
      kind="target"
      name={`${provider} ${model}`}
      title={
        <>
          <Text>{provider}</Text> <Id>{model}</Id>
        </>
      }
      description={
        drained
          ? 'Every router sends requests to this target again within seconds.'
          : 'Routers stop sending new requests within seconds; requests in progress finish. Models without another target fail with 503.'
      }
      submit={(reason) =>
        api.call('PUT /api/operator/targets/drain', {
          body: { provider, provider_model: model, drained: drained === null, reason },
        })
      }
    />
  );
}
