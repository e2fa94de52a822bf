import { GatewayError } from './gateway-error';

type Handler = (...args: never[]) => unknown;

/**
 * The result of a call to a dependency. When the dependency is unavailable, the
 * error is `no_capacity`: nothing ran or was billed, and the client may retry.
 */
export async function unavailableAsNoCapacity<Result>(
  call: Promise<Result>,
  isUnavailable: (error: unknown) => boolean,
): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new GatewayError('no_capacity', { internalMessage: textOf(error), cause: error });
  }
}

/** The same for each handler of a service. Streams are returned unchanged: they report their own errors. */
export function handlersUnavailableAsNoCapacity<
  Handlers extends { readonly [Name in keyof Handlers]: Handler },
>(handlers: Handlers, isUnavailable: (error: unknown) => boolean): Handlers {
  const wrapped = Object.entries<Handler>(handlers).map(([name, handler]): [string, Handler] => [
    name,
    (...args) => {
      const result = handler(...args);
      return result instanceof Promise ? unavailableAsNoCapacity(result, isUnavailable) : result;
    },
  ]);
  // Every handler keeps its name, arguments and result.
  return Object.fromEntries(wrapped) as Handlers;
}

function textOf(error: unknown): string {
  if (error instanceof GatewayError) return error.internalMessage ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
