import type { AddressMatcher, ClientAddressReader } from '@gateway/addresses';
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock, UnixMs } from '@gateway/base';
import { type KeyGrant, Scope } from '@gateway/contracts/auth';
import { errorTable, type Refusal, refuse } from '@gateway/errors';
import { checkKeyGrant, type KeyGrantView, type KeyScope } from '@gateway/public-api';
import { LRUCache } from 'lru-cache';
import { type KeyDirectory, limits } from '../../core';
import type { FloodGuard } from '../floods/flood-guard';
import type { Exchange } from '../http/exchange';

/** Answers who calls, or why they may not. */
export type Authenticator = (exchange: Exchange, scope?: KeyScope) => Promise<KeyGrant | Refusal>;

export interface AuthenticatorPorts {
  readonly keyDirectory: KeyDirectory<KeyGrant>;
  readonly clientAddress: ClientAddressReader;
  readonly isAddressAllowed: AddressMatcher;
  readonly floods: FloodGuard;
  readonly clock: Clock;
}

const AUTHENTICATION_FAILED = 401;
const NO_KEY = refuse('invalid_api_key', {
  message: "No valid API key was sent. Send one as 'Authorization: Bearer sk-gw-…'.",
});
const TWO_KEYS = refuse('invalid_api_key', {
  message: 'The Authorization header was sent more than once. Send one.',
});
const AUTHORIZATION = 'authorization';
/** Around the key HTTP allows spaces and tabs, and nothing else. */
const BEARER = /^[ \t]*bearer +([!-~]+)[ \t]*$/i;

/**
 * The one way in: `Authorization: Bearer sk-gw-…`. Query parameters, cookies
 * and other headers are not looked at.
 */
export function createAuthenticator(ports: AuthenticatorPorts): Authenticator {
  const { keyDirectory, clientAddress, isAddressAllowed, floods, clock } = ports;
  // The directory answers with the same object for as long as it stays true.
  const seen = new WeakMap<KeyGrant, SeenGrant>();
  const validKeys = new LRUCache<string, true>({
    maxSize: limits.keys.maxRemembered,
    sizeCalculation: () => 1,
  });

  /** From an address that floods, a failure is told no better than any other request of it. */
  function failed(request: IncomingMessage, isFlooding: boolean, refusal: Refusal): Refusal {
    if (isFlooding) return floods.refuseAddress();
    floods.countFailedAuthentication(request);
    return refusal;
  }

  return async (exchange, scope) => {
    const { request } = exchange;
    const isFlooding = floods.isAddressFlooding(request);
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (!key?.startsWith('sk-gw-') || key.length > limits.keys.maxLength) {
      return failed(request, isFlooding, NO_KEY);
    }
    if (countAuthorizations(request) > 1) return failed(request, isFlooding, TWO_KEYS);
    const keySha256 = hash('sha256', key, 'buffer');
    // A key that was valid is looked up even now: it may share its address with the flood.
    if (isFlooding && !validKeys.get(hashName(keySha256))) return floods.refuseAddress();
    const grant = await keyDirectory.lookup(keySha256);
    const now = clock.now();
    if (!grant || hasEnded(grant, now)) return failed(request, isFlooding, refuse('invalid_api_key'));
    exchange.organizationId = grant.organizationId;
    exchange.keyId = grant.keyId;

    let known = seen.get(grant);
    if (!known) seen.set(grant, (known = { view: viewOf(grant), wasValid: false }));
    // Most keys allow every address; then it is not worth reading.
    const address = grant.ipAllowlist.length > 0 ? (clientAddress(request) ?? '') : '';
    const refusal = checkKeyGrant(known.view, { address, now, scope, isAddressAllowed });
    if (refusal && errorTable[refusal.code].httpStatus === AUTHENTICATION_FAILED) {
      return failed(request, isFlooding, refusal);
    }
    if (!known.wasValid) {
      known.wasValid = true;
      validKeys.set(hashName(keySha256), true);
    }
    return refusal ?? grant;
  };
}

/** Whether it is of a secret from before a rotation whose time is over: what is remembered of it may be older. */
function hasEnded({ secretEndsUnixMs }: KeyGrant, now: UnixMs): boolean {
  return secretEndsUnixMs !== undefined && now >= Number(secretEndsUnixMs);
}

/** Node keeps the first of several and drops the others; a proxy in front may have looked at another one. */
function countAuthorizations({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  return count;
}

/** What is remembered of a grant for as long as the directory answers with it. */
interface SeenGrant {
  readonly view: KeyGrantView;
  /** Whether its key has authenticated somebody. */
  wasValid: boolean;
}

/** One character per byte. */
function hashName(sha256: Buffer): string {
  return sha256.toString('latin1');
}

function viewOf(grant: KeyGrant): KeyGrantView {
  const { expiresUnixMs } = grant;
  return {
    ...grant,
    scopes: grant.scopes.flatMap(scopeName),
    ...(expiresUnixMs === undefined ? {} : { expiresAt: Number(expiresUnixMs) as UnixMs }),
  };
}

function scopeName(scope: Scope): KeyScope[] {
  switch (scope) {
    case Scope.SCOPE_CHAT:
      return ['chat'];
    case Scope.SCOPE_USAGE_READ:
      return ['usage:read'];
    default:
      // A scope of a newer auth grants nothing here.
      return [];
  }
}
