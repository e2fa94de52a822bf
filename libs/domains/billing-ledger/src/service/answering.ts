import { GatewayError } from '@gateway/errors';
import { LedgerUnavailableError } from '../core/ports';

/** What a caller is told while the ledger's database gets nothing done. */
export function noCapacity(internalMessage: string, cause?: unknown): GatewayError {
  return new GatewayError('no_capacity', { internalMessage, cause });
}

/** A handler whose failures to reach the database are `no_capacity`, to be tried again. */
export function answering<Request, Context, Response>(
  handler: (request: Request, context: Context) => Promise<Response>,
): (request: Request, context: Context) => Promise<Response> {
  return async (request, context) => {
    try {
      return await handler(request, context);
    } catch (error) {
      if (error instanceof LedgerUnavailableError) throw noCapacity(error.message, error);
      throw error;
    }
  };
}
