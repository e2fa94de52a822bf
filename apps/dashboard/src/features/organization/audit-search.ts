import { present, textIn } from '../../app/search';

/** What the address of an audit log may hold. */
export function readAuditSearch(search: Record<string, unknown>) {
  return present({
    action: textIn(search, 'action'),
    actor: textIn(search, 'actor'),
    target: textIn(search, 'target'),
    since: textIn(search, 'since'),
    until: textIn(search, 'until'),
  });
}

export type AuditSearch = ReturnType<typeof readAuditSearch>;
