import type { AuditEntry, JsonObject, MemberRole, UnixMs } from '@gateway/base';
import type { ListAuditRequest } from '@gateway/contracts/auth';
import type { Pool } from 'pg';

export interface AuditEntries {
  /** Newest first, with ids below `before`. Absent fields of the filter do not filter. */
  list(
    filter: Omit<ListAuditRequest, 'pageSize' | 'pageToken'>,
    page: { readonly limit: number; readonly before: string | undefined },
  ): Promise<readonly AuditEntry[]>;
}

interface Row {
  readonly id: string;
  readonly created_at: Date;
  readonly actor_id: string;
  readonly actor_label: string;
  readonly actor_ip_address: string;
  readonly actor_role: MemberRole;
  readonly organization_id: string | null;
  readonly action: string;
  readonly target: string;
  readonly details: JsonObject;
}

/** The entries in the table of one schema. */
export function createAuditEntries(pool: Pool, schema: string): AuditEntries {
  return {
    async list({ organizationId, action, actorId, target, sinceUnixMs, untilUnixMs }, { limit, before }) {
      const conditions: string[] = [];
      const values: unknown[] = [];
      const where = (condition: string, value: unknown): void => {
        if (value === undefined) return;
        values.push(value);
        conditions.push(condition.replace('?', `$${values.length}`));
      };
      where('organization_id = ?', organizationId);
      where('id < ?', before);
      where(action?.endsWith('.') ? 'starts_with(action, ?)' : 'action = ?', action);
      where('actor_id = ?', actorId);
      where('target = ?', target);
      where('created_at >= ?', sinceUnixMs === undefined ? undefined : new Date(Number(sinceUnixMs)));
      where('created_at < ?', untilUnixMs === undefined ? undefined : new Date(Number(untilUnixMs)));
      values.push(limit);
      const { rows } = await pool.query<Row>(
        `select id, created_at, actor_id, actor_label, actor_ip_address, actor_role, organization_id, action, target, details
         from ${schema}.audit_entries
         ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
         order by id desc limit $${values.length}`,
        values,
      );
      return rows.map(entryOf);
    },
  };
}

function entryOf(row: Row): AuditEntry {
  return {
    id: row.id,
    createdAt: row.created_at.getTime() as UnixMs,
    actor: {
      id: row.actor_id,
      label: row.actor_label,
      ipAddress: row.actor_ip_address,
      memberRole: row.actor_role,
    },
    ...(row.organization_id !== null && { organizationId: row.organization_id }),
    action: row.action,
    target: row.target,
    details: row.details,
  };
}
