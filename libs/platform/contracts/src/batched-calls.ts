export * from './generated/gateway/rpc/v1/batched_calls';
