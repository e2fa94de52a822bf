import { Link } from '@tanstack/react-router';
import type { RefusedRequest } from '../../api/generations';
import { CopyIcon } from '../../ui/copy';
import { Badge } from '../../ui/notice';
import { Table, type Column } from '../../ui/table';
import { Id, Text, LogTime, LogTimeHeading } from '../../ui/values';

export interface RefusedRequestsProps {
  readonly organizationId: string;
  readonly rows: readonly RefusedRequest[];
  readonly keyNames: ReadonlyMap<string, string>;
  readonly stale: boolean;
}

/** Requests that ended with an error and have no generation. */
export function RefusedRequests({ organizationId, rows, keyNames, stale }: RefusedRequestsProps) {
  const columns: readonly Column<RefusedRequest>[] = [
    {
      id: 'time',
      header: () => <LogTimeHeading>Refused</LogTimeHeading>,
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => <LogTime at={one.refused_at} className="text-ink-soft" />,
    },
    {
      id: 'error',
      header: 'Error',
      cell: ({ row: { original: one } }) => (
        <div className="grid min-w-40 justify-items-start gap-0.5">
          <Badge tone="warn">{one.error_code}</Badge>
          <p className="text-xs text-ink-soft">
            <Text>{one.error_message}</Text>
          </p>
          <LogTime at={one.refused_at} className="text-xs text-ink-faint @2xl:hidden" />
        </div>
      ),
    },
    {
      id: 'model',
      header: 'Model',
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) => (one.model === null ? '—' : <Text>{one.model}</Text>),
    },
    {
      id: 'key',
      header: 'Key',
      meta: { hide: 'tablet' },
      cell: ({ row: { original: one } }) => (
        <Link
          to="/o/$organizationId/keys/$keyId"
          params={{ organizationId, keyId: one.key_id }}
          className="hover:text-accent hover:underline"
        >
          <Text>{keyNames.get(one.key_id) ?? one.key_id}</Text>
        </Link>
      ),
    },
    {
      id: 'request',
      header: 'Request ID',
      cell: ({ row: { original: one } }) => (
        <span className="text-xs">
          <Id>{one.request_id}</Id> <CopyIcon text={one.request_id} what="request ID" />
        </span>
      ),
    },
  ];
  return (
    <Table
      caption="Refused requests"
      rows={rows}
      columns={columns}
      rowId={({ request_id: id }) => id}
      stale={stale}
    />
  );
}
