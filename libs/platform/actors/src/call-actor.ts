import type { MemberRole, OrganizationRole, ManagementTokenAccess } from '@gateway/base';

interface CallActorFields {
  /** The id of a member or of a management token. */
  readonly id: string;
  /** The person as `personLabel` writes them, or the token's name with the person who created it. */
  readonly label: string;
  /** The address of the browser or script; empty when there is none. */
  readonly ipAddress: string;
  readonly memberRole: MemberRole;
  /** The only organization in which the call may act, and the role in it; operators may have none. */
  readonly organization?: { readonly id: string; readonly role?: OrganizationRole };
}

/** The signed-in person behind a call. */
export interface ActingPerson extends CallActorFields {
  readonly sessionId: string;
  readonly tokenAccess?: undefined;
}

/** The management token behind a call. */
export interface ActingToken extends CallActorFields {
  readonly tokenAccess: ManagementTokenAccess;
  readonly sessionId?: undefined;
}

export type CallActor = ActingPerson | ActingToken;

/** The author of changes by a service itself. No assertion may name it. */
export const SYSTEM_ACTOR_ID = 'system';
