export * from './generated/gateway/auth/v1/auth';
export * from './generated/gateway/auth/v1/auth_admin';
export * from './generated/gateway/auth/v1/budgets';
export * from './generated/gateway/auth/v1/incidents';
export * from './key-scope';
