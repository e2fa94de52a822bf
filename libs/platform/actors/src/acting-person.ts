import type { MemberRole, OrganizationRole } from '@gateway/base';

/** The person behind a call. */
export interface ActingPerson {
  /** A member id. */
  readonly id: string;
  /** Their email. */
  readonly label: string;
  /** The address of their browser; empty when there is none. */
  readonly ipAddress: string;
  readonly sessionId: string;
  readonly memberRole: MemberRole;
  /** The only organization in which the call may act, and their role in it; operators may have none. */
  readonly organization?: { readonly id: string; readonly role?: OrganizationRole };
}

/** The author of changes by a service itself. No assertion may name it. */
export const SYSTEM_ACTOR_ID = 'system';
