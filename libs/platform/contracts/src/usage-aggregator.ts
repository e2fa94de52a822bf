export * from './generated/gateway/usage_aggregator/v1/usage_aggregator';
