export * from './generated/grpc/health/v1/health';
