import type { ErrorCode } from './error-table';
import { GatewayError, type GatewayErrorOptions } from './gateway-error';

/** An expected error as a value, which core code returns instead of throwing. */
export interface Refusal extends GatewayErrorOptions {
  readonly kind: 'refusal';
  readonly code: ErrorCode;
}

export function refuse(code: ErrorCode, options: GatewayErrorOptions = {}): Refusal {
  return { kind: 'refusal', code, ...options };
}

/**
 * Whether a result is a refusal: this type, or a domain's own with `kind:
 * 'refusal'`. Narrows the type of its argument.
 */
export function isRefusal<Result>(result: Result): result is Extract<Result, { readonly kind: 'refusal' }> {
  return typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'refusal';
}

export function refusalError({ kind: _kind, code, ...options }: Refusal): GatewayError {
  return new GatewayError(code, options);
}
