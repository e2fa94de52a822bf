export { checkThat, stillHas, type ActorCheck, type ActorRoles } from './actor-check';
export * from './admin-refusal';
export { auditOf, changedFields } from './audit';
export { COMMAND_LINE_ACTOR } from './audit-entry';
export type { Actor, AuditEntry, AuditedChange, JsonObject } from './audit-entry';
export { awaitEdges } from './await-edges';
export type { EdgeLeases, Invalidation, InvalidationFeed, InvalidationTarget } from './invalidations';
export { onFirstPage, readPage, type Page } from './paging';
export type { Decision, IdSource, PageRequest, Secrets } from './ports';
export { readSearchText } from './search-text';
export {
  idleExpiryOf,
  isSessionActive,
  type EndedSessions,
  type Member,
  type MemberRole,
  type Session,
  type SignInMethod,
} from './session';
export { isIdLike, MAX_NAME_CHARACTERS, MAX_REASON_CHARACTERS, readText } from './text-rules';
