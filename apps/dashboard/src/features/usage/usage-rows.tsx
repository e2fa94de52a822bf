import { Link } from '@tanstack/react-router';
import type { UsageGroup } from '../../api/usage';
import { count } from '../../format/count';
import { duration } from '../../format/time';
import type { Column } from '../../ui/table';
import { Money, Text } from '../../ui/values';
import type { GenerationSearch } from '../generations/search';
import { NO_PROJECT } from '../projects/project-select';
import type { UsageSplit } from './search';

const HEADERS = { model: 'Model', key: 'Key', project: 'Project' } as const;

interface ColumnOptions {
  readonly split: UsageSplit;
  readonly nameOf: (id: string) => string;
  readonly organizationId: string;
  /** The filters that list the generations of the row. */
  readonly filters: GenerationSearch;
}

/** Sortable columns have the id of the server's order. */
export function usageColumns({
  split,
  nameOf,
  organizationId,
  filters,
}: ColumnOptions): readonly Column<UsageGroup>[] {
  const figures = { figures: true } as const;
  return [
    {
      id: 'name',
      header: HEADERS[split],
      enableSorting: false,
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
      accessorFn: ({ spend_usd: usd }) => usd,
      sortDescFirst: true,
      meta: { figures: true, usd: ({ spend_usd: usd }) => usd, digits: 'all' },
      cell: ({ row: { original: row } }) => <Money usd={row.spend_usd} />,
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
      id: 'prompt_tokens',
      header: 'Input tokens',
      accessorFn: ({ prompt_tokens: tokens }) => tokens,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.prompt_tokens),
    },
    {
      id: 'completion_tokens',
      header: 'Output tokens',
      accessorFn: ({ completion_tokens: tokens }) => tokens,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => count(row.completion_tokens),
    },
    {
      id: 'mean',
      header: 'Mean latency',
      enableSorting: false,
      meta: { figures: true, hide: 'tablet' },
      cell: ({ row: { original: row } }) => (row.duration === null ? '—' : duration(row.duration.mean_ms)),
    },
  ];
}
