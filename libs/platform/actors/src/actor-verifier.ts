import {
  ORGANIZATION_ROLES,
  type Clock,
  type ManagementTokenAccess,
  type MemberRole,
  type OrganizationRole,
} from '@gateway/base';
import { createLocalJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import { ASSERTION_LIFETIME_SECONDS } from './actor-signer';
import { SYSTEM_ACTOR_ID, type ActingPerson, type ActingToken, type CallActor } from './call-actor';
import { ASSERTION_ALGORITHM, type PublicKeys } from './signing-keys';

/** Clocks of two hosts may differ by this. */
const CLOCK_SKEW_SECONDS = 30;
/** An assertion is a few hundred bytes. */
const MAX_ASSERTION_CHARACTERS = 4_096;
/** How long the keys are cached: a removed key is accepted no longer than this. */
const KEYS_CACHE_MS = 10_000;

/** Why an assertion is refused. For logs; never contains the assertion. */
export class InvalidAssertion extends Error {
  override readonly name = 'InvalidAssertion';
}

export interface ActorVerifier {
  /** Throws InvalidAssertion unless a current key signed the assertion for this service. */
  verify(assertion: string): Promise<CallActor>;
}

export interface ActorVerifierOptions {
  /** Reads the current public keys. */
  readonly keys: () => PublicKeys;
  /** The service that accepts the assertions. */
  readonly audience: string;
  readonly clock: Clock;
}

export function createActorVerifier({ keys, audience, clock }: ActorVerifierOptions): ActorVerifier {
  let cached: { readonly keySet: ReturnType<typeof createLocalJWKSet>; readonly readAt: number } | undefined;

  function currentKeySet(): ReturnType<typeof createLocalJWKSet> {
    const now = performance.now();
    if (cached === undefined || now - cached.readAt > KEYS_CACHE_MS) {
      cached = { keySet: createLocalJWKSet({ keys: [...keys().keys] }), readAt: now };
    }
    return cached.keySet;
  }

  return {
    async verify(assertion) {
      if (assertion.length > MAX_ASSERTION_CHARACTERS)
        throw new InvalidAssertion('the assertion is too long');
      const keySet = currentKeySet();
      try {
        const { payload } = await jwtVerify(assertion, keySet, {
          algorithms: [ASSERTION_ALGORITHM],
          audience,
          requiredClaims: ['exp', 'iat', 'sub', 'iss'],
          // A signer cannot make an assertion live longer.
          maxTokenAge: ASSERTION_LIFETIME_SECONDS,
          clockTolerance: CLOCK_SKEW_SECONDS,
          currentDate: new Date(clock.now()),
        });
        return actorOf(payload);
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new InvalidAssertion(error.message);
      }
    },
  };
}

const MEMBER_ROLES: readonly string[] = ['operator', 'member'] satisfies MemberRole[];

const TOKEN_ACCESSES: readonly string[] = ['read', 'read_write'] satisfies ManagementTokenAccess[];

function actorOf(payload: JWTPayload): CallActor {
  const { sub, ip, role, org, org_role: orgRole, aud } = payload;
  // An array would make one assertion valid for several services.
  if (typeof aud !== 'string') throw new InvalidAssertion('the assertion has several audiences');
  if (sub === undefined || sub === '' || sub === SYSTEM_ACTOR_ID) {
    throw new InvalidAssertion('the assertion does not name a person or a token');
  }
  const isComplete =
    typeof ip === 'string' &&
    MEMBER_ROLES.includes(role as string) &&
    (org === undefined || (typeof org === 'string' && org !== '')) &&
    (orgRole === undefined ||
      (org !== undefined && (ORGANIZATION_ROLES as readonly unknown[]).includes(orgRole)));
  if (!isComplete) throw new InvalidAssertion(INCOMPLETE);
  return {
    id: sub,
    ...kindOf(payload),
    ipAddress: ip,
    memberRole: role as MemberRole,
    ...(org !== undefined && {
      organization: {
        id: org as string,
        ...(orgRole !== undefined && { role: orgRole as OrganizationRole }),
      },
    }),
  };
}

const INCOMPLETE = 'a claim of the assertion is missing or not valid';

/** The claims that only a person or only a token has. */
function kindOf({
  kind,
  label,
  sid,
  access,
}: JWTPayload): Pick<ActingPerson, 'label' | 'sessionId'> | Pick<ActingToken, 'label' | 'tokenAccess'> {
  if (typeof label !== 'string') throw new InvalidAssertion(INCOMPLETE);
  if (kind === 'person' && typeof sid === 'string' && access === undefined) return { label, sessionId: sid };
  const isToken = kind === 'token' && sid === undefined;
  if (isToken && TOKEN_ACCESSES.includes(access as string)) {
    return { label, tokenAccess: access as ManagementTokenAccess };
  }
  throw new InvalidAssertion(INCOMPLETE);
}
