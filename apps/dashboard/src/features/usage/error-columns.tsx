import { Link } from '@tanstack/react-router';
import type { ErrorCount } from '../../api/usage';
import { count } from '../../format/count';
import type { Column } from '../../ui/table';
import { Id } from '../../ui/values';
import type { GenerationSearch } from '../generations/search';

export function errorColumns(
  organizationId: string,
  filters: GenerationSearch,
): readonly Column<ErrorCount>[] {
  const linked = (status: 'refused' | 'failed', error: string, requests: number) =>
    requests === 0 ? (
      count(0)
    ) : (
      <Link
        to="/o/$organizationId/generations"
        params={{ organizationId }}
        search={{ ...filters, status, error }}
        className="hover:text-accent hover:underline"
      >
        {count(requests)}
      </Link>
    );
  return [
    { id: 'code', header: 'Error code', cell: ({ row: { original } }) => <Id>{original.code}</Id> },
    {
      id: 'refused',
      header: 'Refused requests',
      meta: { figures: true },
      cell: ({ row: { original } }) => linked('refused', original.code, original.refused),
    },
    {
      id: 'failed',
      header: 'Failed generations',
      meta: { figures: true },
      cell: ({ row: { original } }) => linked('failed', original.code, original.failed),
    },
  ];
}
