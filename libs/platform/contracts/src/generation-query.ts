export * from './generated/gateway/generation_query/v1/generation_query';
export * from './usage-dimension';
