import { Link } from '@tanstack/react-router';
import type { UsageGroup, UsageMetrics } from '../../api/usage';
import { count } from '../../format/count';
import { duration } from '../../format/time';
import type { Column } from '../../ui/table';
import { Money, Text } from '../../ui/values';
import type { GenerationSearch } from '../generations/search';
import { NO_PROJECT } from '../projects/project-select';
import type { UsageSplit } from './search';
import { generationsOf, isByValue, noValueName, splitName } from './split';

interface ColumnOptions {
  readonly split: UsageSplit;
  readonly nameOf: (id: string) => string;
  readonly organizationId: string;
  /** The filters that list the generations of the row. */
  readonly filters: GenerationSearch;
  /** The sums of all rows, including those that are not loaded. */
  readonly totals: UsageMetrics;
}

/** Sortable columns have the id of the server's order. */
export function usageColumns({
  split,
  nameOf,
  organizationId,
  filters,
  totals,
}: ColumnOptions): readonly Column<UsageGroup>[] {
  const figures = { figures: true } as const;
  return [
    {
      id: 'name',
      header: capitalized(splitName(split)),
      footer: () => 'Total',
      enableSorting: false,
      cell: ({ row: { original: row } }) =>
        isByValue(split) && row.id === '' ? (
          <span className="text-ink-soft">{row.other_values ? 'Others' : noValueName(split)}</span>
        ) : split === 'project' ? (
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
            search={{ ...filters, ...(row.id === '' ? { status: 'refused' } : generationsOf(split, row.id)) }}
            className="font-medium hover:text-accent hover:underline"
          >
            <Text>{nameOf(row.id)}</Text>
          </Link>
        ),
    },
    {
      id: 'spend',
      header: 'Spend',
      footer: () => <Money usd={totals.spend_usd} />,
      accessorFn: ({ spend_usd: usd }) => usd,
      sortDescFirst: true,
      meta: { figures: true, usd: ({ spend_usd: usd }) => usd, digits: 'all' },
      cell: ({ row: { original: row } }) => <Money usd={row.spend_usd} />,
    },
    {
      id: 'requests',
      header: 'Requests',
      footer: () => count(totals.requests),
      accessorFn: ({ requests }) => requests,
      meta: figures,
      cell: ({ row: { original: row } }) => count(row.requests),
    },
    {
      id: 'errors',
      header: 'Errors',
      footer: () => count(totals.errors),
      accessorFn: ({ errors }) => errors,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.errors),
    },
    {
      id: 'refused',
      header: 'Refused',
      footer: () => count(totals.refused),
      accessorFn: ({ refused }) => refused,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.refused),
    },
    {
      id: 'prompt_tokens',
      header: 'Input tokens',
      footer: () => count(totals.prompt_tokens),
      accessorFn: ({ prompt_tokens: tokens }) => tokens,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.prompt_tokens),
    },
    {
      id: 'completion_tokens',
      header: 'Output tokens',
      footer: () => count(totals.completion_tokens),
      accessorFn: ({ completion_tokens: tokens }) => tokens,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.completion_tokens),
    },
    {
      id: 'mean',
      header: 'Mean latency',
      enableSorting: false,
      meta: { figures: true, hide: 'tablet' },
      footer: () => meanOf(totals),
      cell: ({ row: { original: row } }) => meanOf(row),
    },
  ];
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const meanOf = ({ duration: latency }: UsageMetrics) => (latency === null ? '—' : duration(latency.mean_ms));
