export * from './generated/gateway/rate_limit/v1/rate_limit';
