import type { AddressMatcher, ClientAddressReader } from '@gateway/addresses';
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock, UnixMs } from '@gateway/base';
import { keyScopeOf, type KeyGrant } from '@gateway/contracts/auth';
import { errorTable, type Refusal, refuse } from '@gateway/errors';
import { checkKeyGrant, type KeyGrantView, type KeyScope } from '@gateway/public-api';
import { LRUCache } from 'lru-cache';
import { type KeyDirectory, limits } from '../../core';
import type { AbuseLimiter } from '../abuse-limit/abuse-limiter';
import type { Exchange } from '../http/exchange';
import { countHeader } from '../http/request/count-header';

/** Returns the grant of the request's key, or the refusal. */
export type Authenticator = (exchange: Exchange, scope?: KeyScope) => Promise<KeyGrant | Refusal>;

export interface AuthenticatorPorts {
  readonly keyDirectory: KeyDirectory;
  readonly clientAddress: ClientAddressReader;
  readonly isAddressAllowed: AddressMatcher;
  readonly abuseLimiter: AbuseLimiter;
  readonly clock: Clock;
}

const AUTHENTICATION_FAILED = 401;
const NO_KEY = refuse('invalid_api_key', {
  message: "No valid API key was sent. Send one as 'Authorization: Bearer sk-gw-…'.",
});
const TWO_KEYS = refuse('invalid_api_key', {
  message: 'The Authorization header was sent more than once. Send one.',
});
/** HTTP allows only spaces and tabs around the key. */
const BEARER = /^[ \t]*bearer +([!-~]+)[ \t]*$/i;

/**
 * Authenticates by `Authorization: Bearer sk-gw-…` only. Query parameters,
 * cookies and other headers are ignored.
 */
export function createAuthenticator(ports: AuthenticatorPorts): Authenticator {
  const { keyDirectory, clientAddress, isAddressAllowed, abuseLimiter, clock } = ports;
  // The directory returns the same object until the grant changes.
  const cachedGrants = new WeakMap<KeyGrant, CachedGrant>();
  const validKeys = new LRUCache<string, true>({
    maxSize: limits.keys.maxCached,
    sizeCalculation: () => 1,
  });

  /** While the address is limited, every failure gets the same refusal. */
  function failed(request: IncomingMessage, isLimited: boolean, refusal: Refusal): Refusal {
    if (isLimited) return abuseLimiter.refuseAddress();
    abuseLimiter.countFailedAuthentication(request);
    return refusal;
  }

  return async (exchange, scope) => {
    const { request } = exchange;
    const isLimited = abuseLimiter.isAddressLimited(request);
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (!key?.startsWith('sk-gw-') || key.length > limits.keys.maxLength) {
      return failed(request, isLimited, NO_KEY);
    }
    if (countHeader(request, 'authorization') > 1) return failed(request, isLimited, TWO_KEYS);
    const keySha256 = hash('sha256', key, 'buffer');
    // A key that was valid before is still looked up: it may share its address with the abuser.
    if (isLimited && !validKeys.get(hashName(keySha256))) return abuseLimiter.refuseAddress();
    const grant = await keyDirectory.lookup(keySha256);
    const now = clock.now();
    if (!grant || isRetiredSecret(grant, now)) return failed(request, isLimited, refuse('invalid_api_key'));
    exchange.report.caller = grant;

    let known = cachedGrants.get(grant);
    if (!known) cachedGrants.set(grant, (known = { view: viewOf(grant), wasValid: false }));
    // Most keys allow every address, so it is read only for keys with an allowlist.
    const address = grant.ipAllowlist.length > 0 ? (clientAddress(request) ?? '') : '';
    const refusal = checkKeyGrant(known.view, { address, now, scope, isAddressAllowed });
    if (refusal && errorTable[refusal.code].httpStatus === AUTHENTICATION_FAILED) {
      return failed(request, isLimited, refusal);
    }
    if (!known.wasValid) {
      known.wasValid = true;
      validKeys.set(hashName(keySha256), true);
    }
    return refusal ?? grant;
  };
}

/** Whether the secret was rotated and its grace period is over: a cached grant may be older. */
function isRetiredSecret({ secretEndsUnixMs }: KeyGrant, now: UnixMs): boolean {
  return secretEndsUnixMs !== undefined && now >= Number(secretEndsUnixMs);
}

/** Cached for as long as the directory returns the same grant. */
interface CachedGrant {
  readonly view: KeyGrantView;
  /** Whether the key has authenticated a request. */
  wasValid: boolean;
}

/** A digest as a map key: one character per byte. */
function hashName(sha256: Buffer): string {
  return sha256.toString('latin1');
}

function viewOf(grant: KeyGrant): KeyGrantView {
  const { expiresUnixMs } = grant;
  return {
    ...grant,
    // A scope that only a later version of auth knows grants nothing.
    scopes: grant.scopes.flatMap((scope) => keyScopeOf(scope) ?? []),
    ...(expiresUnixMs === undefined ? {} : { expiresAt: Number(expiresUnixMs) as UnixMs }),
  };
}
