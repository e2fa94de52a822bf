import { createHash } from 'node:crypto';
import { type Clock } from '@gateway/base';
import { type KeyGrant, Scope } from '@gateway/contracts/auth';
import { type Refusal, refuse } from '@gateway/errors';
import { checkKeyGrant, type KeyGrantView, type KeyScope } from '../core';
import { withoutDispatch } from './admission/refusals';
import { type AddressMatcher, type ClientAddressReader } from './http/client-address';
import { type Exchange } from './http/exchange';
import { type KeyDirectory } from './ports';

/** Answers who calls, or why they may not. */
export type Authenticator = (exchange: Exchange, scope?: KeyScope) => Promise<KeyGrant | Refusal>;

export interface AuthenticatorPorts {
  readonly keyDirectory: KeyDirectory;
  readonly clientAddress: ClientAddressReader;
  readonly isAddressAllowed: AddressMatcher;
  readonly clock: Clock;
}

/** Far above the length of any key; a longer one is not worth hashing. */
const MAX_KEY_LENGTH = 256;
const BEARER = /^bearer +(\S+)$/i;

/**
 * The one way in: `Authorization: Bearer sk-gw-…`. Query parameters, cookies
 * and other headers are not looked at.
 */
export function createAuthenticator(ports: AuthenticatorPorts): Authenticator {
  const { keyDirectory, clientAddress, isAddressAllowed, clock } = ports;
  // The directory answers with the same object for as long as it stays true.
  const views = new WeakMap<KeyGrant, KeyGrantView>();

  return async (exchange, scope) => {
    const { request } = exchange;
    const key = BEARER.exec(request.headers.authorization?.trim() ?? '')?.[1];
    if (!key?.startsWith('sk-gw-') || key.length > MAX_KEY_LENGTH) {
      return refuse('invalid_api_key', {
        message: "No valid API key was sent. Send one as 'Authorization: Bearer sk-gw-…'.",
      });
    }
    const keySha256 = createHash('sha256').update(key).digest();
    const grant = await withoutDispatch(keyDirectory.lookup(keySha256));
    if (!grant) return refuse('invalid_api_key');
    exchange.organizationId = grant.organizationId;
    exchange.keyId = grant.keyId;

    let view = views.get(grant);
    if (!view) views.set(grant, (view = viewOf(grant)));
    // Most keys allow every address; then it is not worth reading.
    const address = grant.ipAllowlist.length > 0 ? (clientAddress(request) ?? '') : '';
    return checkKeyGrant(view, { address, now: clock.now(), scope, isAddressAllowed }) ?? grant;
  };
}

function viewOf(grant: KeyGrant): KeyGrantView {
  return { ...grant, scopes: grant.scopes.flatMap(scopeName) };
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
