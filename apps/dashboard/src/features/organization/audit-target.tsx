import type { Result } from '@gateway/dashboard-contract/client';
import { Link, type LinkProps } from '@tanstack/react-router';
import { Id, Text, visible } from '../../ui/values';
import type { AuditSearch } from './audit-search';

export type AuditEntry = Result<'GET /api/audit'>['data'][number];

interface AuditTargetProps {
  readonly of: AuditEntry;
  readonly search: AuditSearch;
  readonly isPlatform: boolean;
  /** The names of keys and projects, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** What was changed, by its name if that is known, linked to its page; and its other entries. */
export function AuditTarget({ of: entry, search, isPlatform, names }: AuditTargetProps) {
  const name = nameOf(entry, names);
  const page = pageOf(entry, isPlatform);
  const shown = name === undefined ? <Id>{entry.target}</Id> : <Text>{name}</Text>;
  return (
    <p className="text-xs text-ink-faint">
      {page ? (
        <Link {...page} className="hover:text-accent hover:underline">
          {shown}
        </Link>
      ) : (
        shown
      )}
      {search.target === undefined && (
        <>
          {' · '}
          <Link
            to="."
            search={{ ...search, target: entry.target }}
            title={visible(entry.target)}
            aria-label={`All changes of ${visible(name ?? entry.target)}`}
            className="hover:text-accent hover:underline"
          >
            All changes
          </Link>
        </>
      )}
    </p>
  );
}

function nameOf({ target, actor, details }: AuditEntry, names: ReadonlyMap<string, string>) {
  const { name, email } = (details ?? {}) as { readonly name?: unknown; readonly email?: unknown };
  // People change themselves when they sign in.
  const own = target === actor.id ? actor.label : undefined;
  const found: unknown = [name, email, own].find((one) => typeof one === 'string' && one !== '');
  return names.get(target) ?? (found as string | undefined);
}

type Page = Pick<LinkProps, 'to' | 'params' | 'search'>;

function pageOf(entry: AuditEntry, isPlatform: boolean): Page | undefined {
  const { organization_id: organizationId } = entry;
  return organizationId === null
    ? isPlatform
      ? pageOfPlatform(entry)
      : undefined
    : pageInOrganization(entry, organizationId);
}

function pageInOrganization({ target, action, details }: AuditEntry, organizationId: string): Page {
  const params = { organizationId };
  switch (target.split('-')[0]) {
    case 'key':
      return { to: '/o/$organizationId/keys/$keyId', params: { organizationId, keyId: target } };
    case 'proj':
      return { to: '/o/$organizationId/projects/$projectId', params: { organizationId, projectId: target } };
    case 'gen':
      return {
        to: '/o/$organizationId/generations/$generationId',
        params: { organizationId, generationId: target },
      };
    case 'crd':
      return { to: '/o/$organizationId/credit', params, search: { view: 'credits' } };
    case 'mtk':
      return { to: '/o/$organizationId/management-tokens', params };
    case 'mem':
    case 'inv':
      return { to: '/o/$organizationId/members', params, search: findEmail(details) };
  }
  if (action.startsWith('credit')) return { to: '/o/$organizationId/credit', params };
  if (action.startsWith('content_log.')) return { to: '/o/$organizationId/content-log', params };
  // The page of members also shows domains, and whether a second factor is required.
  if (/domain|second_factor/.test(action)) return { to: '/o/$organizationId/members', params };
  return { to: '/o/$organizationId/limits', params };
}

/** The page of a person, or of the family of the action. */
function pageOfPlatform({ target, action, details }: AuditEntry): Page | undefined {
  if (target.startsWith('mem-')) return { to: '/operator/people', search: findEmail(details) };
  if (target.startsWith('mtk-')) return { to: '/operator/management-tokens' };
  switch (action.split('.')[0]) {
    case 'model':
      return { to: '/operator/catalogue', search: { find: target } };
    case 'target':
    case 'provider_secret':
      return { to: '/operator/catalogue', search: { tab: 'providers' } };
    case 'catalogue':
      return { to: '/operator/catalogue', search: { tab: 'history' } };
    case 'dead_letter':
      return { to: '/operator/settlement' };
    case 'operator_notifications':
      return { to: '/operator/notifications' };
    default:
      return undefined;
  }
}

function findEmail(details: unknown): { readonly find?: string } {
  const { email } = (details ?? {}) as { readonly email?: unknown };
  return typeof email === 'string' ? { find: email } : {};
}
