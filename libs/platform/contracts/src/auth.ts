export * from './generated/gateway/auth/v1/auth';
export * from './generated/gateway/auth/v1/auth_admin';
export * from './generated/gateway/auth/v1/operator_notifications';
export * from './generated/gateway/auth/v1/budgets';
