import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';

export const ASSERTION_ALGORITHM = 'ES256';

/** A key pair as a JWK, with its private part. */
export interface SigningKey extends JWK {
  readonly kid: string;
  /** When it was created. */
  readonly createdUnixMs: number;
}

export interface SigningKeys {
  readonly keys: readonly SigningKey[];
}

/** A JWK set without private parts. */
export interface PublicKeys {
  readonly keys: readonly JWK[];
}

/** The current and the previous key. */
const KEPT_KEYS = 2;
const DAY_MS = 86_400_000;

/**
 * Adds a key when there is none, or the newest is older than `rotationDays`, and
 * drops all but the newest two.
 *
 * @returns undefined when no key is due.
 */
export async function renewSigningKeys(
  current: SigningKeys | undefined,
  { nowUnixMs, rotationDays }: { readonly nowUnixMs: number; readonly rotationDays: number },
): Promise<SigningKeys | undefined> {
  const keys = newestFirst(current);
  const [newest] = keys;
  if (newest !== undefined && nowUnixMs - newest.createdUnixMs < rotationDays * DAY_MS) return undefined;
  return { keys: [await createKey(nowUnixMs), ...keys].slice(0, KEPT_KEYS) };
}

/** The keys of a new signer. */
export async function createSigningKeys(nowUnixMs: number): Promise<SigningKeys> {
  return { keys: [await createKey(nowUnixMs)] };
}

async function createKey(nowUnixMs: number): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(ASSERTION_ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { ...jwk, kid, alg: ASSERTION_ALGORITHM, use: 'sig', createdUnixMs: nowUnixMs };
}

/** The public parts of the keys of every signer. */
export function publicKeysOf(signers: readonly SigningKeys[]): PublicKeys {
  const keys = signers.flatMap((signer) => signer.keys);
  return {
    keys: keys.map(({ kty, crv, x, y, kid, alg, use }) => ({ kty, crv, x, y, kid, alg, use }) as JWK),
  };
}

/** Services load a changed file within this time: the kubelet's delay for a secret, with a margin. */
const SPREAD_MS = 60 * 60_000;

/** The newest key that every service has loaded, else the oldest. */
export function signingKeyOf(keys: SigningKeys, nowUnixMs: number): SigningKey {
  const sorted = newestFirst(keys);
  const key = sorted.find(({ createdUnixMs }) => nowUnixMs - createdUnixMs >= SPREAD_MS) ?? sorted.at(-1);
  if (key === undefined) throw new Error('there is no key to sign with');
  return key;
}

function newestFirst(keys: SigningKeys | undefined): readonly SigningKey[] {
  return [...(keys?.keys ?? [])].sort((a, b) => b.createdUnixMs - a.createdUnixMs);
}
