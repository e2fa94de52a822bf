import { GatewayError } from '@gateway/errors';
import pino from 'pino';

/**
 * An error as a field of a log line. The public message of a GatewayError may quote a
 * prompt, because providers repeat their input and the client gets that text. So its
 * code and its internal message are logged instead, also of a cause.
 */
export function loggedError(error: unknown): unknown {
  return error instanceof Error ? pino.stdSerializers.err(withoutPublicText(error)) : error;
}

function withoutPublicText(error: Error): Error {
  const cause = error.cause instanceof Error ? withoutPublicText(error.cause) : error.cause;
  const isPublic = error instanceof GatewayError;
  if (!isPublic && cause === error.cause) return error;
  const message = isPublic ? (error.internalMessage ?? error.code) : error.message;
  const own = isPublic ? { code: error.code } : error;
  return Object.assign(Object.create(Object.getPrototypeOf(error) as object) as Error, own, {
    message,
    stack: `${error.name}: ${message}${framesOf(error)}`,
    cause,
  });
}

/** The stack after the message. */
function framesOf({ stack = '', message }: Error): string {
  const start = stack.indexOf(message);
  return start < 0 ? '' : stack.slice(start + message.length);
}
