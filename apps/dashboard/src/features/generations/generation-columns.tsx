import { Link } from '@tanstack/react-router';
import type { GenerationSummary } from '../../api/generations';
import { count } from '../../format/count';
import { duration } from '../../format/time';
import { Badge } from '../../ui/notice';
import type { Column } from '../../ui/table';
import { Id, Money, Text, LogTime, LogTimeHeading } from '../../ui/values';

interface ColumnOptions {
  readonly organizationId: string;
  /** Absent: omits the key column. */
  readonly keyNames?: ReadonlyMap<string, string>;
}

export function generationColumns({
  organizationId,
  keyNames,
}: ColumnOptions): readonly Column<GenerationSummary>[] {
  const columns: readonly (Column<GenerationSummary> | false)[] = [
    {
      id: 'time',
      header: () => <LogTimeHeading>Created</LogTimeHeading>,
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => <LogTime at={one.created_at} className="text-ink-soft" />,
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
          <p className="text-xs text-ink-faint @max-2xl:hidden">
            <Id>{one.id}</Id>
          </p>
          <p className="mt-0.5 flex items-center gap-2 text-xs text-ink-faint @2xl:hidden">
            <GenerationStatus of={one} /> <LogTime at={one.created_at} />
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
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => <GenerationStatus of={one} />,
    },
    {
      id: 'tokens-in',
      header: 'Input tokens',
      meta: { figures: true, hide: 'tablet' },
      cell: ({ row: { original: one } }) => count(one.prompt_tokens),
    },
    {
      id: 'tokens-out',
      header: 'Output tokens',
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: one } }) => count(one.completion_tokens),
    },
    {
      id: 'latency',
      header: 'Latency',
      meta: { figures: true, hide: 'tablet' },
      cell: ({ row: { original: one } }) => duration(one.duration_ms),
    },
    {
      id: 'cost',
      header: 'Cost',
      meta: { figures: true, usd: ({ charged_usd: usd }) => usd },
      cell: ({ row: { original: one } }) => <Money usd={one.charged_usd} />,
    },
  ];
  return columns.filter((column): column is Column<GenerationSummary> => column !== false);
}

/** Labels of finish reasons other than "stop". */
const REASONS: Readonly<Record<string, string>> = {
  length: 'Max tokens',
  tool_calls: 'Tool call',
  content_filter: 'Content filter',
};

export function GenerationStatus({
  of: { status, finish_reason: reason, error_code: error },
}: {
  readonly of: Pick<GenerationSummary, 'status' | 'finish_reason' | 'error_code'>;
}) {
  if (status === 'failed') {
    return (
      <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
        <Badge tone="bad">Failed</Badge>
        {error !== null && <span className="text-xs font-normal text-ink-soft">{error}</span>}
      </span>
    );
  }
  if (status === 'cancelled') return <Badge tone="warn">Cancelled</Badge>;
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <Badge tone="good">Completed</Badge>
      {reason !== null && reason !== 'stop' && (
        <span className="text-xs font-normal text-ink-soft">{REASONS[reason] ?? reason}</span>
      )}
    </span>
  );
}
