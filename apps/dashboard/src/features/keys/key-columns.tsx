import { personLabel } from '@gateway/base';
import { Link } from '@tanstack/react-router';
import type { Key } from '../../api/keys';
import { count, counted } from '../../format/count';
import { nanoUsdOf } from '../../format/money';
import { exactTime } from '../../format/time';
import { Badge } from '../../ui/notice';
import type { Column } from '../../ui/table';
import { Tip } from '../../ui/tooltip';
import { Day, Id, PersonName, Text, TimeOrNever, visible } from '../../ui/values';
import { ProjectLink } from '../projects/project-link';
import { SpendOfBudget, Unavailable } from './spend-of-budget';

/** Checkboxes of the keys that can be revoked together. */
export function selectColumn(selected: readonly Key[], toggle: (key: Key) => void): Column<Key> {
  return {
    id: 'select',
    header: () => <span className="sr-only">Select</span>,
    enableSorting: false,
    meta: { className: 'w-8' },
    cell: ({ row: { original: key } }) =>
      key.state !== 'revoked' && (
        <input
          type="checkbox"
          aria-label={`Select ${visible(key.name)}`}
          checked={selected.some(({ id }) => id === key.id)}
          onChange={() => toggle(key)}
        />
      ),
  };
}

/** @param projectNames by id; without any, there is no column of projects. */
export function keyColumns(
  organizationId: string,
  projectNames: ReadonlyMap<string, string> = new Map(),
): readonly Column<Key>[] {
  const project: Column<Key> = {
    id: 'project',
    header: 'Project',
    accessorFn: ({ project_id: id }) => projectNames.get(id ?? '')?.toLowerCase() ?? '',
    meta: { hide: 'tablet' },
    cell: ({ row: { original: key } }) =>
      key.project_id === null ? (
        <span className="text-ink-faint">None</span>
      ) : (
        <ProjectLink organizationId={organizationId} projectId={key.project_id}>
          {projectNames.get(key.project_id) ?? key.project_id}
        </ProjectLink>
      ),
  };
  return [
    {
      id: 'name',
      header: 'Name',
      accessorFn: ({ name }) => name.toLowerCase(),
      cell: ({ row: { original: key } }) => (
        <div className="min-w-40">
          <Link
            to="/o/$organizationId/keys/$keyId"
            params={{ organizationId, keyId: key.id }}
            className="font-medium hover:text-accent hover:underline"
          >
            <Text>{key.name}</Text>
          </Link>
          <p className="text-xs text-ink-faint">
            <Id>{`sk-gw-…${key.last4}`}</Id>
          </p>
          <div className="mt-1 @2xl:hidden">
            <KeyState of={key} />
          </div>
        </div>
      ),
    },
    {
      id: 'state',
      header: 'Status',
      enableSorting: false,
      meta: { hide: 'phone' },
      cell: ({ row: { original: key } }) => <KeyState of={key} />,
    },
    {
      id: 'owner',
      header: 'Owner',
      accessorFn: ({ owner }) => (owner ? personLabel(owner) : ''),
      meta: { hide: 'tablet' },
      cell: ({ row: { original: key } }) => <KeyOwner of={key} />,
    },
    ...(projectNames.size > 0 ? [project] : []),
    {
      id: 'permissions',
      header: 'Permissions',
      meta: { hide: 'tablet' },
      cell: ({ row: { original: key } }) => <Restrictions of={key} />,
    },
    {
      id: 'used',
      header: 'Last used',
      accessorFn: ({ activity }) => activity?.last_used_at ?? '',
      meta: { hide: 'phone' },
      cell: ({ row: { original: key } }) =>
        key.activity === null ? <Unavailable /> : <TimeOrNever at={key.activity.last_used_at} />,
    },
    {
      id: 'today',
      header: 'Spend today',
      accessorFn: ({ activity }) => Number(nanoUsdOf(activity?.spend_today_usd ?? '0')),
      meta: { figures: true, usd: ({ activity }) => activity?.spend_today_usd },
      cell: ({ row: { original: key } }) => (
        <SpendOfBudget spend={key.activity?.spend_today_usd} budget={key.daily_budget_usd} />
      ),
    },
    {
      id: 'month',
      header: 'Spend this month',
      accessorFn: ({ activity }) => Number(nanoUsdOf(activity?.spend_this_month_usd ?? '0')),
      meta: { figures: true, hide: 'phone', usd: ({ activity }) => activity?.spend_this_month_usd },
      cell: ({ row: { original: key } }) => (
        <SpendOfBudget spend={key.activity?.spend_this_month_usd} budget={key.monthly_budget_usd} />
      ),
    },
  ];
}

export function KeyState({ of: key }: { readonly of: Key }) {
  if (key.state === 'revoked') {
    return (
      <Tip text={key.revoked_at ? `Revoked ${exactTime(key.revoked_at)}` : 'Revoked'}>
        <span tabIndex={0}>
          <Badge tone="bad">Revoked</Badge>
        </span>
      </Tip>
    );
  }
  if (key.state === 'expired') return <Badge tone="warn">Expired</Badge>;
  return (
    <div className="grid justify-items-start gap-0.5">
      <Badge tone="good">Active</Badge>
      {(key.expires_at ?? key.expires_on) !== null && (
        <span className="text-xs text-ink-faint">
          Expires <KeyExpiry of={key} />
        </span>
      )}
    </div>
  );
}

/** Playground keys expire at a time, other keys at the end of a day. */
export function KeyExpiry({ of: key }: { readonly of: Pick<Key, 'expires_at' | 'expires_on'> }) {
  if (key.expires_at !== null) return exactTime(key.expires_at);
  return key.expires_on === null ? 'Never' : <Day on={key.expires_on} />;
}

function KeyOwner({ of: { owner } }: { readonly of: Key }) {
  if (owner === null) return 'An operator';
  return (
    <div className="grid justify-items-start gap-0.5">
      <PersonName of={owner} />
      {owner.has_left && <Badge tone="warn">Has left</Badge>}
    </div>
  );
}

function Restrictions({ of: key }: { readonly of: Key }) {
  const restrictions = [
    key.allowed_models !== null && counted(key.allowed_models.length, 'model'),
    key.ip_allowlist.length > 0 && counted(key.ip_allowlist.length, 'IP range'),
    key.requests_per_minute !== null && `${count(key.requests_per_minute)} RPM`,
    key.tokens_per_minute !== null && `${count(key.tokens_per_minute)} TPM`,
    key.concurrency !== null && `${count(key.concurrency)} concurrent`,
  ].filter((one): one is string => one !== false);
  return (
    <div className="grid gap-0.5">
      <span>{key.scopes.map((scope) => (scope === 'chat' ? 'Chat' : 'Read usage')).join(', ')}</span>
      {restrictions.length > 0 && <span className="text-xs text-ink-faint">{restrictions.join(' · ')}</span>}
    </div>
  );
}
