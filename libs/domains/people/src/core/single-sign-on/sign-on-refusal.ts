import type { Member } from '@gateway/auth-shared';

/** Why the gateway refuses a person whom the provider has authenticated. */
const PERSON_REFUSALS = [
  'email_not_verified',
  'domain_not_mapped',
  /** The member with this email is linked to another identity at the provider. */
  'identity_mismatch',
  'account_disabled',
] as const;
export type PersonRefusalReason = (typeof PERSON_REFUSALS)[number];

/** Why a single sign-on failed. */
export type SignOnRefusalReason =
  | PersonRefusalReason
  | 'not_configured'
  | 'too_many_attempts'
  /** The provider did not respond in time. */
  | 'unavailable'
  /** Not started in this browser, already used, or expired. */
  | 'state_invalid'
  /** The person or the provider declined. */
  | 'denied'
  /** The provider's response is invalid. */
  | 'failed';

export function isPersonRefusal(reason: SignOnRefusalReason): reason is PersonRefusalReason {
  return (PERSON_REFUSALS as readonly SignOnRefusalReason[]).includes(reason);
}

export interface SignOnRefused {
  readonly kind: 'refused';
  readonly reason: SignOnRefusalReason;
  /** For logs; never contains a code, a token or an email. */
  readonly detail: string;
  /** Whose account it is, if known. */
  readonly member?: Member;
}

export function refused(reason: SignOnRefusalReason, detail = ''): SignOnRefused {
  return { kind: 'refused', reason, detail };
}

export function refusedTo(member: Member, reason: SignOnRefusalReason): SignOnRefused {
  return { ...refused(reason), member };
}
