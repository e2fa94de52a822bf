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

export function refusalError({ kind: _kind, code, ...options }: Refusal): GatewayError {
  return new GatewayError(code, options);
}
