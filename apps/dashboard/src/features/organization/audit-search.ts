import { omitUndefined, stringParam } from '../../app/search';

/** The search parameters of an audit log. */
export function readAuditSearch(search: Record<string, unknown>) {
  return omitUndefined({
    action: stringParam(search, 'action'),
    actor: stringParam(search, 'actor'),
    target: stringParam(search, 'target'),
    organization: stringParam(search, 'organization'),
    since: stringParam(search, 'since'),
    until: stringParam(search, 'until'),
  });
}

export type AuditSearch = ReturnType<typeof readAuditSearch>;
