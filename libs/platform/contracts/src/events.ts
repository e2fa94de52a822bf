export * from './generated/gateway/events/v1/dead_letters';
export * from './generated/gateway/events/v1/generation_finished';
export * from './generated/gateway/events/v1/generation_settled';
export * from './idempotent-ending';
export * from './dead-letter-state';
