import { AdminRefusalReason, type AdminRefusal as AdminRefusalMessage } from '@gateway/contracts/auth';
import { GatewayError } from '@gateway/errors';
import type { AdminRefusal } from '../core/admin-refusal';

const MESSAGE_OF_REASON: Readonly<Record<AdminRefusal['reason'], AdminRefusalReason>> = {
  not_found: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_FOUND,
  invalid: AdminRefusalReason.ADMIN_REFUSAL_REASON_INVALID,
  conflict: AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFLICT,
  version_conflict: AdminRefusalReason.ADMIN_REFUSAL_REASON_VERSION_CONFLICT,
  forbidden: AdminRefusalReason.ADMIN_REFUSAL_REASON_FORBIDDEN,
  link_not_valid: AdminRefusalReason.ADMIN_REFUSAL_REASON_LINK_NOT_VALID,
  not_signed_in: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_SIGNED_IN,
  sign_in_refused: AdminRefusalReason.ADMIN_REFUSAL_REASON_SIGN_IN_REFUSED,
  second_factor_required: AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REQUIRED,
  second_factor_refused: AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REFUSED,
  too_many_attempts: AdminRefusalReason.ADMIN_REFUSAL_REASON_TOO_MANY_ATTEMPTS,
  not_configured: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_CONFIGURED,
  account_disabled: AdminRefusalReason.ADMIN_REFUSAL_REASON_ACCOUNT_DISABLED,
  confirmation_required: AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFIRMATION_REQUIRED,
};

export function refusalMessage({ reason, message, field, retryAfterMs }: AdminRefusal): AdminRefusalMessage {
  return { reason: MESSAGE_OF_REASON[reason], message, field, retryAfterMs };
}

export function missing(param: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param} is missing.`, param });
}
