import { Link } from '@tanstack/react-router';
import type { RefusedRequest } from '../../api/generations';
import { usePermission } from '../../api/session';
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
          <ChangeBudget organizationId={organizationId} of={one} />
          <LogTime at={one.refused_at} className="text-xs text-ink-faint @2xl:hidden" />
        </div>
      ),
    },
    {
      id: 'model',
      header: 'Model',
      meta: { hide: 'phone' },
      cell: ({ row: { original: one } }) =>
        one.model === null ? (
          '—'
        ) : (
          <Link
            to="/o/$organizationId/generations"
            params={{ organizationId }}
            search={{ status: 'refused', model: one.model }}
            className="hover:text-accent hover:underline"
          >
            <Text>{one.model}</Text>
          </Link>
        ),
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

interface ChangeBudgetProps {
  readonly organizationId: string;
  readonly of: RefusedRequest;
}

/** Where the budget that refused the request is changed, for those who may. */
function ChangeBudget({ organizationId, of: one }: ChangeBudgetProps) {
  const can = usePermission(organizationId);
  const className = 'text-xs text-accent hover:underline';
  switch (budgetOwnerOf(one)) {
    case 'API key':
    case 'end user':
      return can('keys:manage') || can('keys:manage_own') ? (
        <Link
          to="/o/$organizationId/keys/$keyId"
          params={{ organizationId, keyId: one.key_id }}
          className={className}
        >
          Change the key’s budget
        </Link>
      ) : null;
    case 'project':
      return can('organization:limits') ? (
        <Link to="/o/$organizationId/projects" params={{ organizationId }} className={className}>
          Change the project’s budget
        </Link>
      ) : null;
    case 'organization':
      return can('organization:limits') ? (
        <Link to="/o/$organizationId/limits" params={{ organizationId }} className={className}>
          Change the organization’s budget
        </Link>
      ) : null;
    default:
      return null;
  }
}

/** Only the message of a stored refusal names the owner of the budget. */
function budgetOwnerOf({ error_code: code, error_message: message }: RefusedRequest): string | undefined {
  if (code !== 'daily_budget_exceeded' && code !== 'insufficient_credits') return undefined;
  return /\bbudget of \S+ of this (API key|end user|project|organization)\b/.exec(message)?.[1];
}
