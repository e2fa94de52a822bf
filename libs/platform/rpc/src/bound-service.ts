import type { CallContext, RpcHandlers, ServiceDefinition } from './definition';

/** A service with its handlers, ready for any transport. */
export interface BoundService {
  readonly definition: ServiceDefinition;
  readonly handlers: Readonly<Record<string, (request: never, context: CallContext) => unknown>>;
}

/** Ties handlers to their definition; the compiler checks that none is missing. */
export function bindService<Service extends ServiceDefinition>(
  definition: Service,
  handlers: RpcHandlers<Service>,
): BoundService {
  return { definition, handlers: handlers as unknown as BoundService['handlers'] };
}
