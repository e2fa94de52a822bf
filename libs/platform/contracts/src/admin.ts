export * from './generated/gateway/admin/v1/admin';
