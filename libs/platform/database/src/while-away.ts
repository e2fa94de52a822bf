import { GatewayError } from '@gateway/errors';
import { isTransientDatabaseError } from './transient-error';

/** A handler that answers once. */
type Handler = (...parts: never[]) => unknown;

/**
 * The same handlers, whose failures to reach the database are `no_capacity`, to
 * be tried again, instead of failures of ours. What streams is passed over: it
 * says for itself why it ends.
 */
export function noCapacityWhileAway<Handlers extends { readonly [Name in keyof Handlers]: Handler }>(
  handlers: Handlers,
): Handlers {
  const wrapped = Object.entries<Handler>(handlers).map(([name, handler]): [string, Handler] => [
    name,
    (...parts) => {
      const answer = handler(...parts);
      return answer instanceof Promise ? answer.catch(refuseWhileAway) : answer;
    },
  ]);
  // Every handler under its own name, with its own arguments and answer.
  return Object.fromEntries(wrapped) as Handlers;
}

function refuseWhileAway(error: unknown): never {
  if (error instanceof GatewayError || !isTransientDatabaseError(error)) throw error;
  const internalMessage = `the database is away: ${error instanceof Error ? error.message : String(error)}`;
  throw new GatewayError('no_capacity', { internalMessage, cause: error });
}
