import type { Clock } from '@gateway/base';
import type { Actor, AuditEntry, JsonObject } from './audit-entry';
import type { IdSource } from './ports';

/** An audit entry without id, time and outcome. */
export interface AuditedChange {
  readonly actor: Actor;
  readonly organizationId?: string;
  readonly action: string;
  readonly target: string;
  readonly details: JsonObject;
}

const MAX_ACTOR_FIELD_CHARACTERS = 254;

/** The entry for a change in the same transaction, so its outcome is `done`. */
export function auditOf(change: AuditedChange, ports: { newId: IdSource; clock: Clock }): AuditEntry {
  return {
    ...change,
    actor: presentableActor(change.actor),
    id: ports.newId('aud'),
    createdAt: ports.clock.now(),
    outcome: 'done',
  };
}

/** The before and after of each field that differs. */
export function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  const changed: Record<string, { before: unknown; after: unknown }> = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = before[field] ?? null;
    const is = after[field] ?? null;
    if (JSON.stringify(was) !== JSON.stringify(is)) changed[field] = { before: was, after: is };
  }
  return { changed };
}

/** Callers are our own services, but they pass on text from outside. */
function presentableActor({ id, label, ipAddress }: Actor): Actor {
  return { id: presentable(id), label: presentable(label), ipAddress: presentable(ipAddress) };
}

function presentable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, '').slice(0, MAX_ACTOR_FIELD_CHARACTERS);
}
