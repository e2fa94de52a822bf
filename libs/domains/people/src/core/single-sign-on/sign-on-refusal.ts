/** Why a single sign-on failed. */
export type SignOnRefusalReason =
  | 'not_configured'
  | 'too_many_attempts'
  /** The provider did not respond in time. */
  | 'unavailable'
  /** Not started in this browser, already used, or expired. */
  | 'state_invalid'
  /** The person or the provider declined. */
  | 'denied'
  /** The provider's response is invalid. */
  | 'failed'
  | 'email_not_verified'
  | 'domain_not_mapped'
  /** The member with this email is linked to another identity at the provider. */
  | 'identity_mismatch'
  | 'account_disabled';

export interface SignOnRefused {
  readonly kind: 'refused';
  readonly reason: SignOnRefusalReason;
  /** For logs; never contains a code, a token or an email. */
  readonly detail: string;
}

export function refused(reason: SignOnRefusalReason, detail = ''): SignOnRefused {
  return { kind: 'refused', reason, detail };
}
