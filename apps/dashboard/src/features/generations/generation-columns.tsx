import { Link } from '@tanstack/react-router';
import type { GenerationSummary } from '../../api/generations';
import { count } from '../../format/count';
import { duration } from '../../format/time';
import { Badge } from '../../ui/notice';
import type { Column } from '../../ui/table';
import { Id, Money, Text, Time } from '../../ui/values';

interface ColumnFacts {
  readonly organizationId: string;
  /** Absent: the key's column is left out. */
  readonly keyNames?: ReadonlyMap<string, string>;
}

export function generationColumns({
  organizationId,
  keyNames,
}: ColumnFacts): readonly Column<GenerationSummary>[] {
  const columns: readonly (Column<GenerationSummary> | false)[] = [
    {
      id: 'time',
      header: 'When',
      cell: ({ row: { original: one } }) => <Time at={one.created_at} className="text-ink-soft" />,
    },
    {
      id: 'model',
      header: 'Model',
      cell: ({ row: { original: one } }) => (
        <div className="min-w-32">
          <Link
            to="/o/$organizationId/generations/$generationId"
            params={{ organizationId, generationId: one.id }}
            className="font-medium hover:text-accent hover:underline"
          >
            <Text>{one.model_id}</Text>
          </Link>
          <p className="text-xs text-ink-faint max-sm:hidden">
            <Id>{one.id}</Id>
          </p>
        </div>
      ),
    },
    keyNames !== undefined && {
      id: 'key',
      header: 'Key',
      meta: { hide: 'tablet' },
      cell: ({ row: { original: one } }) => <Text>{keyNames.get(one.key_id) ?? one.key_id}</Text>,
    },
    {
      id: 'status',
      header: 'Status',
      cell: ({ row: { original: one } }) => <GenerationStatus of={one} />,
    },
    {
      id: 'tokens',
      header: 'Tokens in, out',
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: one } }) => `${count(one.prompt_tokens)}, ${count(one.completion_tokens)}`,
    },
    {
      id: 'time-taken',
      header: 'Took',
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: one } }) => duration(one.duration_ms),
    },
    {
      id: 'cost',
      header: 'Charged',
      meta: { figures: true },
      cell: ({ row: { original: one } }) => <Money usd={one.charged_usd} />,
    },
  ];
  return columns.filter((column): column is Column<GenerationSummary> => column !== false);
}

export function GenerationStatus({
  of: { status, finish_reason: reason },
}: {
  readonly of: Pick<GenerationSummary, 'status' | 'finish_reason'>;
}) {
  if (status === 'failed') return <Badge tone="bad">Failed</Badge>;
  if (status === 'cancelled') return <Badge tone="warn">Cancelled</Badge>;
  return <Badge tone={reason === 'stop' ? 'good' : 'plain'}>{reason ?? 'Completed'}</Badge>;
}
