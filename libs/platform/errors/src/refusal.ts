import type { ErrorCode } from './error-table';
import { GatewayError, type GatewayErrorOptions } from './gateway-error';

/** An expected refusal as a value: what core code returns instead of throwing. */
export interface Refusal extends GatewayErrorOptions {
  readonly kind: 'refusal';
  readonly code: ErrorCode;
}

export function refuse(code: ErrorCode, options: GatewayErrorOptions = {}): Refusal {
  return { kind: 'refusal', code, ...options };
}

/**
 * Whether a result is a refusal, of this kind or of a domain's own (`kind:
 * 'refusal'`), and not what was asked for. Narrows the union that it is given.
 */
export function isRefusal<Result>(result: Result): result is Extract<Result, { readonly kind: 'refusal' }> {
  return typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'refusal';
}

export function refusalError({ kind: _kind, code, ...options }: Refusal): GatewayError {
  return new GatewayError(code, options);
}
