import type { AuditEntry } from '@gateway/base';
import type { ClientBase, Pool } from 'pg';

/** Writes the entry in the transaction of `client`, into the table of this schema. */
export async function insertAuditEntry(
  client: ClientBase | Pool,
  schema: string,
  { id, createdAt, actor, organizationId, action, target, details }: AuditEntry,
): Promise<void> {
  await client.query(
    `insert into ${schema}.audit_entries (
       id, created_at, actor_id, actor_label, actor_ip_address, actor_role, organization_id, action, target, details
     ) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      id,
      new Date(createdAt),
      actor.id,
      actor.label,
      actor.ipAddress,
      actor.memberRole ?? 'member',
      organizationId ?? null,
      action,
      target,
      JSON.stringify(details),
    ],
  );
}
