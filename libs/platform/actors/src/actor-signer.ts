import type { Clock } from '@gateway/base';
import { importJWK, SignJWT, type CryptoKey } from 'jose';
import type { CallActor } from './call-actor';
import { ASSERTION_ALGORITHM, signingKeyOf, type SigningKeys } from './signing-keys';

/** Long enough for one call with its retries. */
export const ASSERTION_LIFETIME_SECONDS = 60;

export interface ActorSigner {
  /** An assertion that only the service `audience` accepts. */
  sign(actor: CallActor, audience: string): Promise<string>;
}

export interface ActorSignerOptions {
  /** The current keys; called for each assertion, so that renewed keys need no restart. */
  readonly keys: () => SigningKeys;
  /** The service that signs. */
  readonly issuer: string;
  readonly clock: Clock;
}

export function createActorSigner({ keys, issuer, clock }: ActorSignerOptions): ActorSigner {
  let imported: { readonly kid: string; readonly key: Promise<CryptoKey | Uint8Array> } | undefined;

  return {
    async sign({ id, label, ipAddress, sessionId, tokenAccess, memberRole, organization }, audience) {
      const now = clock.now();
      const signingKey = signingKeyOf(keys(), now);
      const { kid } = signingKey;
      if (imported?.kid !== kid) imported = { kid, key: importJWK(signingKey, ASSERTION_ALGORITHM) };
      const issuedAt = Math.floor(now / 1_000);
      return new SignJWT({
        ...(tokenAccess === undefined
          ? { kind: 'person', label, sid: sessionId }
          : { kind: 'token', label, access: tokenAccess }),
        ip: ipAddress,
        role: memberRole,
        ...(organization && { org: organization.id, org_role: organization.role }),
      })
        .setProtectedHeader({ alg: ASSERTION_ALGORITHM, kid })
        .setIssuer(issuer)
        .setSubject(id)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ASSERTION_LIFETIME_SECONDS)
        .sign(await imported.key);
    },
  };
}
