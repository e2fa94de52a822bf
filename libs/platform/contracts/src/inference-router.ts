export * from './generated/gateway/inference_router/v1/inference_router';
