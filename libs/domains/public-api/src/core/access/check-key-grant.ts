import { utcDay, type UnixMs } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';

export type KeyScope = 'chat' | 'usage:read';

/** The properties of a key and its organization that the check reads. */
export interface KeyGrantView {
  readonly revoked: boolean;
  /** YYYY-MM-DD; the key works until the end of this day, UTC. */
  readonly expiresOn?: string | undefined;
  /** The key is expired from this moment. */
  readonly expiresAt?: UnixMs | undefined;
  readonly scopes: readonly KeyScope[];
  /** Addresses and CIDR ranges; empty allows every address. */
  readonly ipAllowlist: readonly string[];
  readonly organizationSuspended: boolean;
}

/**
 * Whether an address is on a list of addresses and CIDR ranges. Compares by
 * value, not by text: IPv6 in any notation, IPv4 also as ::ffff:a.b.c.d. An
 * invalid address is on no list. Called with non-empty lists only.
 */
export type IsAddressAllowed = (address: string, allowlist: readonly string[]) => boolean;

export interface KeyUse {
  /** The client's address; empty when unknown. */
  readonly address: string;
  readonly now: UnixMs;
  /** The scope that the endpoint requires; absent when any valid key is enough. */
  readonly scope?: KeyScope | undefined;
  readonly isAddressAllowed: IsAddressAllowed;
}

/**
 * Checks that a known key may be used for this call: not revoked, not expired,
 * from an allowed address, of an active organization, with the scope. Returns the
 * first refusal in this order.
 */
export function checkKeyGrant(grant: KeyGrantView, use: KeyUse): Refusal | undefined {
  if (grant.revoked) return refuse('key_revoked');
  if (grant.expiresAt !== undefined && use.now >= grant.expiresAt) return refuse('key_expired');
  // ISO days compare as strings.
  if (grant.expiresOn !== undefined && utcDay(use.now) > grant.expiresOn) return refuse('key_expired');
  if (grant.ipAllowlist.length > 0 && !use.isAddressAllowed(use.address, grant.ipAllowlist)) {
    return refuse('ip_not_allowed');
  }
  if (grant.organizationSuspended) return refuse('org_suspended');
  if (use.scope !== undefined && !grant.scopes.includes(use.scope)) {
    return refuse('missing_scope', {
      message: `This API key lacks the scope '${use.scope}', which this endpoint requires.`,
      metadata: { required_scope: use.scope },
    });
  }
  return undefined;
}
