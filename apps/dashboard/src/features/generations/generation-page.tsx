import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { generationQuery, type GenerationDetail } from '../../api/generations';
import { useKeyNames } from '../../api/keys';
import { useProjectNames } from '../../api/projects';
import { useSession } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { count } from '../../format/count';
import { nanoUsdOf } from '../../format/money';
import { duration, exactTime } from '../../format/time';
import { CopyIcon } from '../../ui/copy';
import { Badge, Notice } from '../../ui/notice';
import { Fact, Facts, Figure, Figures, Page, Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Money, Text, Time } from '../../ui/values';
import { apiNames } from './api-names';
import { ProjectLink } from '../projects/project-link';
import { ContentSection } from './content-section';
import { GenerationStatus } from './generation-columns';
import { LedgerSection } from './ledger-section';

const route = getRouteApi('/signed-in/o/$organizationId/generations/$generationId');

export function GenerationPage() {
  const { organizationId, generationId } = route.useParams();
  const query = useQuery(generationQuery(organizationId, generationId));
  const keyNames = useKeyNames(organizationId, [query.data?.key_id]);
  const projectNames = useProjectNames(organizationId, [query.data?.project_id]);
  const isOperator = useSession().member.role === 'operator';
  if (blockingErrorOf(query) || !query.data) {
    return (
      <Page title="Generation">
        {query.error ? (
          <Failure error={query.error} what="generation" onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows />
        )}
      </Page>
    );
  }
  const one = query.data;
  const hasResponse = one.usage_source !== null;
  return (
    <Page
      narrow
      title={`Generation ${one.id}`}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          <Text>{one.model_id}</Text>
          <GenerationStatus of={one} />
        </span>
      }
      description={
        <>
          <Id>{one.id}</Id> <CopyIcon text={one.id} what="ID" />
          <span className="block">{exactTime(one.created_at)}</span>
        </>
      }
    >
      {one.error_code !== null && (
        <Notice tone="bad" title={hasResponse ? 'Interrupted by the provider' : 'Failed before the response'}>
          {one.error_message !== null && <p>{one.error_message}</p>}
          <ErrorCodeLink code={one.error_code} />.{' '}
          {hasResponse ? 'The output until then is charged.' : 'Nothing is charged.'}
        </Notice>
      )}
      <Figures>
        <Figure
          label="Charged"
          note={
            nanoUsdOf(one.cost_usd) !== nanoUsdOf(one.charged_usd) && (
              <>
                Cost <Money usd={one.cost_usd} />
              </>
            )
          }
        >
          <Money usd={one.charged_usd} />
        </Figure>
        <Figure label="Input tokens">{count(one.prompt_tokens)}</Figure>
        <Figure label="Output tokens">{count(one.completion_tokens)}</Figure>
        <Figure label="Latency" note={one.streamed ? 'Streamed' : 'Not streamed'}>
          {duration(one.duration_ms)}
        </Figure>
        {one.time_to_first_token_ms !== null && (
          <Figure label="Time to first token">{duration(one.time_to_first_token_ms)}</Figure>
        )}
      </Figures>
      <ContentSection key={one.id} organizationId={organizationId} generationId={one.id} />
      <CostSection of={one} />
      <AttemptSection of={one} />
      <LedgerSection of={one} isOperator={isOperator} />
      <Section title="Details">
        <Facts>
          <Fact name="Key">
            <Link
              to="/o/$organizationId/keys/$keyId"
              params={{ organizationId, keyId: one.key_id }}
              className="text-accent hover:underline"
            >
              <Text>{keyNames.get(one.key_id) ?? one.key_id}</Text>
            </Link>
          </Fact>
          {one.project_id !== null && (
            <Fact name="Project">
              <ProjectLink organizationId={organizationId} projectId={one.project_id}>
                {projectNames.get(one.project_id) ?? one.project_id}
              </ProjectLink>
            </Fact>
          )}
          {isOperator && <Route of={one} />}
          <Fact name="Request ID">
            <Id>{one.request_id}</Id> <CopyIcon text={one.request_id} what="request ID" />
          </Fact>
          <Fact name="API">{apiNames[one.api_type]}</Fact>
          <Fact name="End user">
            {one.external_user === null ? (
              '—'
            ) : (
              <Link
                to="/o/$organizationId/generations"
                params={{ organizationId }}
                search={{ user: one.external_user }}
                className="text-accent hover:underline"
              >
                <Text>{one.external_user}</Text>
              </Link>
            )}
          </Fact>
          {Object.entries(one.tags).map(([name, value]) => (
            <Fact key={name} name={`Tag ${name}`}>
              <Link
                to="/o/$organizationId/generations"
                params={{ organizationId }}
                search={{ tag: `${name}:${value}` }}
                className="text-accent hover:underline"
              >
                <Text>{value}</Text>
              </Link>
            </Fact>
          ))}
          <Fact name="Finish reason">{one.finish_reason ?? '—'}</Fact>
          <Fact name="Time to first event">{hasResponse ? duration(one.latency_ms) : '—'}</Fact>
          <Fact name="Generation time">{hasResponse ? duration(one.generation_time_ms) : '—'}</Fact>
          <Fact name="Usage source">
            {one.usage_source === null
              ? '—'
              : one.usage_source === 'provider'
                ? 'Provider'
                : 'Counted by the gateway'}
          </Fact>
          <Fact name="Settled">
            <Time at={one.settled_at} />
          </Fact>
        </Facts>
      </Section>
    </Page>
  );
}

/** The model and the target of its last attempt, which only operators see. */
function Route({ of: { model_id: model, attempts } }: { readonly of: GenerationDetail }) {
  const target = attempts?.at(-1);
  if (!target) return null;
  return (
    <Fact name="Route">
      <Id>{model}</Id> → <Text>{target.provider}</Text>
      {target.provider_model !== null && (
        <>
          {' '}
          <Id>{target.provider_model}</Id>
        </>
      )}
    </Fact>
  );
}

function ErrorCodeLink({ code }: { readonly code: string }) {
  return (
    <a href="/docs" target="_blank" rel="noopener" className="underline">
      <Id>{code}</Id>
      <span className="sr-only"> in the API reference</span>
    </a>
  );
}

const KINDS = {
  input: 'Input',
  cached_input: 'Cached input',
  cache_write: 'Cache write',
  cache_write_1h: 'Cache write, 1 hour',
  image: 'Images',
  output: 'Output',
  reasoning: 'Reasoning',
} as const;

type Cost = NonNullable<GenerationDetail['cost_by_kind']>[number];
type Attempt = NonNullable<GenerationDetail['attempts']>[number];

const COST_COLUMNS: readonly Column<Cost>[] = [
  { id: 'kind', header: 'Type', cell: ({ row: { original } }) => KINDS[original.kind] },
  {
    id: 'tokens',
    header: 'Tokens',
    meta: { figures: true },
    cell: ({ row: { original } }) => count(original.tokens),
  },
  {
    id: 'price',
    header: 'Price per 1M tokens',
    meta: { figures: true, usd: ({ price_usd_per_million: usd }) => usd, digits: 'all' },
    cell: ({ row: { original } }) => <Money usd={original.price_usd_per_million} />,
  },
  {
    id: 'cost',
    header: 'Cost',
    meta: { figures: true, usd: ({ cost_usd: usd }) => usd, digits: 'all' },
    cell: ({ row: { original } }) => <Money usd={original.cost_usd} />,
  },
];

/** Other kinds of tokens are shown where there are any. */
const ALWAYS_SHOWN: ReadonlySet<Cost['kind']> = new Set(['input', 'output']);

function CostSection({ of: one }: { readonly of: GenerationDetail }) {
  return (
    <Section title="Cost" description="Prices at the time of the request.">
      {one.cost_by_kind === null ? (
        <p className="text-sm text-ink-soft">Prices were not recorded.</p>
      ) : (
        <>
          <Table
            caption="Cost by token type"
            rows={one.cost_by_kind.filter(({ kind, tokens }) => tokens > 0 || ALWAYS_SHOWN.has(kind))}
            columns={COST_COLUMNS}
            rowId={({ kind }) => kind}
          />
          <p className="flex justify-between text-sm font-medium">
            Total <Money usd={one.cost_usd} digits="all" />
          </p>
        </>
      )}
    </Section>
  );
}

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  {
    id: 'provider',
    header: 'Provider',
    cell: ({ row: { original } }) => (
      <>
        <Text>{original.provider}</Text>
        {original.provider_model !== null && (
          <span className="text-ink-faint">
            {' '}
            <Id>{original.provider_model}</Id>
          </span>
        )}
      </>
    ),
  },
  {
    id: 'reason',
    header: 'Chosen by',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => REASONS[original.reason] ?? original.reason,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    cell: ({ row: { original } }) => (
      <>
        <Badge tone={original.outcome === 'ok' ? 'good' : 'warn'}>{outcomeLabel(original.outcome)}</Badge>
        {original.error && <ProviderErrorText of={original.error} />}
      </>
    ),
  },
  {
    id: 'time',
    header: 'Duration',
    meta: { figures: true },
    cell: ({ row: { original } }) => duration(original.duration_ms),
  },
];

/** For operators only. */
function ProviderErrorText({ of: error }: { readonly of: NonNullable<Attempt['error']> }) {
  const status = error.http_status === null ? 'Error in the response' : `HTTP ${error.http_status}`;
  const names = [...new Set([error.code, error.type])].filter((name) => name !== null);
  return (
    <p className="mt-1 text-xs text-ink-soft">
      {status}
      {names.map((name) => (
        <span key={name}>
          {' '}
          <Id>{name}</Id>
        </span>
      ))}
      {error.text !== null && (
        <>
          : <Text>{error.text}</Text>
        </>
      )}
    </p>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  order: 'Order',
  weight: 'Weight',
  price: 'Lowest price',
  latency: 'Lowest latency',
  prompt_cache_key: 'Prompt cache key',
  signature: 'Signature',
  retry: 'Retry',
  failover: 'Failover',
};

const OUTCOMES: Readonly<Record<string, string>> = {
  ok: 'Succeeded',
  interrupted: 'Interrupted',
  cancelled: 'Cancelled',
};

function outcomeLabel(outcome: string): string {
  const text = outcome.replaceAll('_', ' ');
  return OUTCOMES[outcome] ?? text.charAt(0).toUpperCase() + text.slice(1);
}

function AttemptSection({ of: { attempts } }: { readonly of: GenerationDetail }) {
  return (
    <Section title="Provider attempts" description="In the order in which they were tried.">
      {attempts === null ? (
        <p className="text-sm text-ink-soft">Provider attempts were not recorded.</p>
      ) : (
        <Table
          caption="Provider attempts"
          rows={attempts.map((attempt, index) => ({ ...attempt, index }))}
          columns={ATTEMPT_COLUMNS}
          rowId={(attempt) => String((attempt as Attempt & { index: number }).index)}
        />
      )}
    </Section>
  );
}
