import { Link } from '@tanstack/react-router';
import type { UsagePoint } from '../../api/usage';
import { count } from '../../format/count';
import { nanoUsdOf, usdOfNano } from '../../format/money';
import { duration } from '../../format/time';
import type { Column } from '../../ui/table';
import { Money, Text } from '../../ui/values';
import type { GenerationSearch } from '../generations/search';
import { NO_PROJECT } from '../projects/project-select';
import type { UsageSplit } from './search';
import { idOf } from './split';

/** The totals of one model, key or project. */
export interface UsageRow {
  readonly id: string;
  readonly spendNano: bigint;
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The mean of the requests that did not fail. Exact, unlike quantiles, which do not add up. */
  readonly meanMs: number | undefined;
}

export function usageRows(points: readonly UsagePoint[], split: UsageSplit): readonly UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const point of points) {
    const id = idOf(point, split) ?? '';
    const before = rows.get(id);
    const requests = (before?.requests ?? 0) + point.requests;
    const errors = (before?.errors ?? 0) + point.errors;
    const timed = requests - errors;
    const timedHere = point.requests - point.errors;
    const totalMs = (before?.meanMs ?? 0) * (timed - timedHere) + (point.duration?.mean_ms ?? 0) * timedHere;
    rows.set(id, {
      id,
      spendNano: (before?.spendNano ?? 0n) + nanoUsdOf(point.spend_usd),
      requests,
      errors,
      refused: (before?.refused ?? 0) + point.refused,
      promptTokens: (before?.promptTokens ?? 0) + point.prompt_tokens,
      completionTokens: (before?.completionTokens ?? 0) + point.completion_tokens,
      meanMs: timed === 0 ? undefined : totalMs / timed,
    });
  }
  return [...rows.values()];
}

const HEADERS = { model: 'Model', key: 'Key', project: 'Project' } as const;

interface ColumnOptions {
  readonly split: UsageSplit;
  readonly nameOf: (id: string) => string;
  readonly organizationId: string;
  /** The filters that list the generations of the row. */
  readonly filters: GenerationSearch;
}

export function usageColumns({
  split,
  nameOf,
  organizationId,
  filters,
}: ColumnOptions): readonly Column<UsageRow>[] {
  const figures = { figures: true } as const;
  return [
    {
      id: 'name',
      header: HEADERS[split],
      accessorFn: ({ id }) => nameOf(id).toLowerCase(),
      cell: ({ row: { original: row } }) =>
        split === 'project' ? (
          <Link
            to="/o/$organizationId/usage"
            params={{ organizationId }}
            search={(search) => ({ ...search, split: 'key', project: row.id || NO_PROJECT })}
            className="font-medium hover:text-accent hover:underline"
          >
            <Text>{nameOf(row.id)}</Text>
          </Link>
        ) : (
          <Link
            to="/o/$organizationId/generations"
            params={{ organizationId }}
            search={{ ...filters, ...(row.id === '' ? { status: 'refused' } : { [split]: row.id }) }}
            className="font-medium hover:text-accent hover:underline"
          >
            <Text>{nameOf(row.id)}</Text>
          </Link>
        ),
    },
    {
      id: 'spend',
      header: 'Spend',
      accessorFn: ({ spendNano }) => spendNano,
      sortingFn: (left, right) => (left.original.spendNano < right.original.spendNano ? -1 : 1),
      meta: { figures: true, usd: ({ spendNano }) => usdOfNano(spendNano), digits: 'all' },
      cell: ({ row: { original: row } }) => <Money usd={usdOfNano(row.spendNano)} />,
    },
    {
      id: 'requests',
      header: 'Requests',
      accessorFn: ({ requests }) => requests,
      meta: figures,
      cell: ({ row: { original: row } }) => count(row.requests),
    },
    {
      id: 'errors',
      header: 'Errors',
      accessorFn: ({ errors }) => errors,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.errors),
    },
    {
      id: 'refused',
      header: 'Refused',
      accessorFn: ({ refused }) => refused,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.refused),
    },
    {
      id: 'in',
      header: 'Input tokens',
      accessorFn: ({ promptTokens }) => promptTokens,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.promptTokens),
    },
    {
      id: 'out',
      header: 'Output tokens',
      accessorFn: ({ completionTokens }) => completionTokens,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.completionTokens),
    },
    {
      id: 'mean',
      header: 'Mean latency',
      accessorFn: ({ meanMs }) => meanMs ?? 0,
      meta: { figures: true, hide: 'tablet' },
      cell: ({ row: { original: row } }) => (row.meanMs === undefined ? '—' : duration(row.meanMs)),
    },
  ];
}
