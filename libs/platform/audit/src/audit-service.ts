import type { Actor, AuditEntry } from '@gateway/base';
import { AuditLogDefinition } from '@gateway/contracts/audit';
import type { Actor as ActorMessage, AuditEntry as AuditEntryMessage } from '@gateway/contracts/auth';
import { isDatabaseUnavailable } from '@gateway/database';
import { GatewayError, handlersUnavailableAsNoCapacity } from '@gateway/errors';
import { bindService, type BoundService } from '@gateway/rpc';
import type { AuditEntries } from './audit-entries';

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The service AuditLog of a process, over the tables of its schemas. */
export function createAuditService(tables: readonly AuditEntries[]): BoundService {
  const handlers = {
    async listAudit({ pageSize, pageToken, ...filter }) {
      if (pageToken !== '' && !ID.test(pageToken)) {
        throw new GatewayError('invalid_request', {
          message: 'page_token is not a token returned by a list call.',
          param: 'page_token',
        });
      }
      // PostgreSQL stores no NUL, so no entry has one.
      const texts = [filter.organizationId, filter.action, filter.actorId, filter.target];
      if (texts.some((text) => text?.includes('\0'))) return { entries: [], nextPageToken: '' };
      const size = pageSize === 0 ? DEFAULT_PAGE_SIZE : Math.min(pageSize, MAX_PAGE_SIZE);
      const page = { limit: size + 1, before: pageToken === '' ? undefined : pageToken };
      const lists = await Promise.all(tables.map((table) => table.list(filter, page)));
      const sorted = lists.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
      const entries = sorted.slice(0, size);
      return {
        entries: entries.map(messageOf),
        nextPageToken: sorted.length > size ? (entries.at(-1)?.id ?? '') : '',
      };
    },
  } satisfies Parameters<typeof bindService<typeof AuditLogDefinition>>[1];
  return bindService(AuditLogDefinition, handlersUnavailableAsNoCapacity(handlers, isDatabaseUnavailable));
}

function actorMessage({ id, label, ipAddress, memberRole }: Actor): ActorMessage {
  return { id, label, ipAddress, operator: memberRole === 'operator' };
}

function messageOf({ id, createdAt, details, ...entry }: AuditEntry): AuditEntryMessage {
  return {
    id,
    createdUnixMs: BigInt(createdAt),
    actor: actorMessage(entry.actor),
    organizationId: entry.organizationId,
    action: entry.action,
    target: entry.target,
    detailsJson: JSON.stringify(details),
  };
}
