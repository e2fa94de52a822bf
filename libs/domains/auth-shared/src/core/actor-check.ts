import { hasPermission, type EffectiveRoles, type Permission } from '@gateway/base';

/** The roles of the person behind a change, read under the locks of its transaction. */
export interface ActorRoles extends EffectiveRoles {
  readonly disabled: boolean;
}

/** Evaluated under the locks of the change, which is refused unless `permits` returns true. */
export interface ActorCheck {
  readonly actorId: string;
  /** Undefined for an actor without an account, such as a management token. */
  readonly permits: (actor: ActorRoles | undefined) => boolean;
}

export function checkThat(actorId: string, permission: Permission): ActorCheck {
  return { actorId, permits: (roles) => stillHas(roles, permission) };
}

/**
 * Whether an actor who had the permission before the transaction has it under its locks. One without an account, such as
 * a management token, was checked before.
 */
export function stillHas(roles: ActorRoles | undefined, permission: Permission): boolean {
  return roles === undefined || (!roles.disabled && hasPermission(roles, permission));
}
