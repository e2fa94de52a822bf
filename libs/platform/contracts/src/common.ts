export * from './budgets';
export * from './generated/gateway/common/v1/budget';
export * from './generated/gateway/common/v1/error';
export * from './generated/gateway/common/v1/money';
export * from './generated/gateway/common/v1/tag';
export * from './generated/gateway/common/v1/target_rules';
export * from './usage-source';
