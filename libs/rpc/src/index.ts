export * from './bound-service';
export * from './client';
export * from './definition';
export * from './transport';
