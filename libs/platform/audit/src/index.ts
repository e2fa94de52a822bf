export { default as AUDIT_ENTRIES_TABLE } from './sql/audit-entries.sql';
export { createAuditEntries, type AuditEntries } from './audit-entries';
export { createAuditService } from './audit-service';
export { insertAuditEntry } from './insert-audit-entry';
