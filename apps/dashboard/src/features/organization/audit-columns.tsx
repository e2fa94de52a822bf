import { Link } from '@tanstack/react-router';
import type { Column } from '../../ui/table';
import { Id, Text, LogTime, LogTimeHeading } from '../../ui/values';
import { OrganizationLink } from '../operator/organization-link';
import { actionLabel } from './audit-actions';
import { AuditChanges } from './audit-changes';
import type { AuditSearch } from './audit-search';
import { AuditTarget, type AuditEntry } from './audit-target';

interface AuditColumnsOptions {
  readonly search: AuditSearch;
  readonly isPlatform: boolean;
  /** The names of keys and projects, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** Actors link to their entries, resources to their pages. */
export function auditColumns({
  search,
  isPlatform,
  names,
}: AuditColumnsOptions): readonly Column<AuditEntry>[] {
  const organization: Column<AuditEntry> = {
    id: 'organization',
    header: 'Organization',
    meta: { hide: 'tablet' },
    cell: ({ row: { original: entry } }) =>
      entry.organization_id === null ? (
        <span className="text-ink-faint">Platform</span>
      ) : (
        <>
          <OrganizationLink id={entry.organization_id} />
          <p className="text-xs">
            <Link
              to="."
              search={{ ...search, organization: entry.organization_id }}
              className="text-ink-faint hover:text-accent hover:underline"
            >
              Only this one
            </Link>
          </p>
        </>
      ),
  };
  return [
    {
      id: 'at',
      header: () => <LogTimeHeading>Time</LogTimeHeading>,
      meta: { hide: 'phone' },
      cell: ({ row: { original: entry } }) => <LogTime at={entry.created_at} className="text-ink-soft" />,
    },
    {
      id: 'actor',
      header: 'Actor',
      meta: { hide: 'phone' },
      cell: ({ row: { original: entry } }) => (
        <>
          <Actor of={entry} search={search} />
          {entry.actor.ip_address !== '' && (
            <p className="text-xs text-ink-faint">
              <Id>{entry.actor.ip_address}</Id>
            </p>
          )}
        </>
      ),
    },
    {
      id: 'action',
      header: 'Action',
      cell: ({ row: { original: entry } }) => (
        <>
          <span className="font-medium" title={entry.action}>
            {actionLabel(entry.action)}
          </span>
          <AuditTarget of={entry} search={search} isPlatform={isPlatform} names={names} />
          <div className="mt-1 grid gap-1 @2xl:hidden">
            <p className="text-xs text-ink-soft">
              <Actor of={entry} search={search} />, <LogTime at={entry.created_at} />
            </p>
            <AuditChanges details={entry.details} />
          </div>
        </>
      ),
    },
    ...(isPlatform ? [organization] : []),
    {
      id: 'changes',
      header: 'Changes',
      meta: { hide: 'phone' },
      cell: ({ row: { original: entry } }) => <AuditChanges details={entry.details} />,
    },
  ];
}

function Actor({ of: { actor }, search }: { readonly of: AuditEntry; readonly search: AuditSearch }) {
  // Customers do not see which operator it was.
  if (actor.id === 'operator') return <Text>{actor.label}</Text>;
  return (
    <Link
      to="."
      search={{ ...search, actor: actor.id }}
      title="Show all changes by this person"
      className="hover:text-accent hover:underline"
    >
      <Text>{actor.label}</Text>
    </Link>
  );
}
