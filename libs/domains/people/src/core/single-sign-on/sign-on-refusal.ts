/** Why a single sign-on signed nobody in. */
export type SignOnRefusalReason =
  | 'not_configured'
  | 'too_many_attempts'
  /** The provider did not answer, or not in time. */
  | 'unavailable'
  /** Not begun in this browser, used already, or too long ago. */
  | 'not_begun'
  /** The person or the provider declined. */
  | 'denied'
  /** What the provider sent cannot be believed. */
  | 'failed'
  | 'email_not_verified'
  | 'domain_not_mapped'
  /** The member with this email is somebody else at the provider. */
  | 'other_identity';

export interface SignOnRefused {
  readonly kind: 'refused';
  readonly reason: SignOnRefusalReason;
  /** For logs alone: never a code, a token or an email. */
  readonly detail: string;
}

export function refused(reason: SignOnRefusalReason, detail = ''): SignOnRefused {
  return { kind: 'refused', reason, detail };
}
