import { useEffect, useState } from 'react';
import { omitUndefined } from '../../app/search';
import { Button } from '../../ui/button';
import { Field, Input, Select } from '../../ui/field';
import { FilterBar } from '../../ui/filters';
import { TimeField } from '../../ui/time-field';
import { ActorSelect } from './actor-select';
import { actionLabel } from './audit-actions';
import type { AuditSearch } from './audit-search';

const FAMILIES = [
  { value: 'key.', label: 'Keys' },
  { value: 'project.', label: 'Projects' },
  { value: 'management_token.', label: 'Management tokens' },
  { value: 'content_log.', label: 'Content log' },
  { value: 'organization.', label: 'Organization' },
  { value: 'credit', label: 'Credit' },
  { value: 'membership.', label: 'Members' },
  { value: 'invitation.', label: 'Invitations' },
  { value: 'member.', label: 'Accounts' },
] as const;

/** Their entries belong to no organization. */
const PLATFORM_FAMILIES = [
  { value: 'session.', label: 'Sessions' },
  { value: 'catalogue.', label: 'Catalogue' },
  { value: 'provider_secret.', label: 'Provider secrets' },
  { value: 'target.', label: 'Drained targets' },
  { value: 'model.', label: 'Disabled models' },
  { value: 'dead_letter.', label: 'Dead letters' },
  { value: 'operator_notifications.', label: 'Notifications' },
] as const;

interface FiltersProps {
  /** Absent: the platform audit log. */
  readonly organizationId: string | undefined;
  readonly search: AuditSearch;
  /** The email of the selected person, once loaded. */
  readonly actorLabel: string | undefined;
  readonly onSearch: (search: AuditSearch) => void;
}

export function AuditFilters({ organizationId, search, actorLabel, onSearch }: FiltersProps) {
  const families = organizationId === undefined ? [...FAMILIES, ...PLATFORM_FAMILIES] : FAMILIES;
  const [target, setTarget] = useState(search.target ?? '');
  useEffect(() => setTarget(search.target ?? ''), [search.target]);
  const change = (changes: Partial<AuditSearch>) =>
    onSearch(omitUndefined({ ...search, ...changes }) as AuditSearch);
  return (
    <FilterBar
      inUse={Object.keys(search).length}
      onSubmit={() => change({ target: target.trim() || undefined })}
    >
      <Field label="Category">
        <Select
          className="sm:w-48"
          value={search.action ?? ''}
          onChange={({ target: { value } }) => change({ action: value || undefined })}
        >
          <option value="">All</option>
          {families.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
          {search.action !== undefined && !families.some(({ value }) => value === search.action) && (
            <option value={search.action}>{actionLabel(search.action)}</option>
          )}
        </Select>
      </Field>
      <Field label="Actor">
        <ActorSelect
          organizationId={organizationId}
          value={search.actor}
          valueLabel={actorLabel}
          onChange={(actor) => change({ actor })}
        />
      </Field>
      {search.organization !== undefined && (
        <Field label="Organization">
          <Select
            className="sm:w-48"
            value={search.organization}
            onChange={({ target: { value } }) => change({ organization: value || undefined })}
          >
            <option value="">All</option>
            <option value={search.organization}>{search.organization}</option>
          </Select>
        </Field>
      )}
      <TimeField label="From" end="start" value={search.since} onChange={(since) => change({ since })} />
      <TimeField label="To" end="end" value={search.until} onChange={(until) => change({ until })} />
      <Field label="Resource ID">
        <Input
          className="font-mono !text-sm sm:w-64"
          value={target}
          onChange={(event) => setTarget(event.target.value)}
        />
      </Field>
      <div className="flex gap-2">
        <Button type="submit">Search</Button>
        {Object.keys(search).length > 0 && (
          <Button kind="quiet" onClick={() => onSearch({})}>
            Clear filters
          </Button>
        )}
      </div>
    </FilterBar>
  );
}
