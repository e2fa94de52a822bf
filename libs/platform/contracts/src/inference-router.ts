export * from './generated/gateway/inference_router/v1/catalogue_admin';
export * from './generated/gateway/inference_router/v1/content_log';
export * from './generated/gateway/inference_router/v1/inference_router';
export * from './generated/gateway/inference_router/v1/inference_router_admin';
