export * from './generated/gateway/audit/v1/audit_log';
