import type { PublicKeys, SigningKeys } from './signing-keys';

/** The file with the public keys of all signers, in the folder of every service that serves people. */
export const PUBLIC_KEYS_FILE = 'actor-public-keys.json';
/** The file with the keys of one signer. */
export const SIGNING_KEYS_FILE = 'actor-signing-keys.json';

export function parsePublicKeys(text: string): PublicKeys {
  return parseKeys(text) as PublicKeys;
}

export function parseSigningKeys(text: string): SigningKeys {
  const keys = parseKeys(text) as SigningKeys;
  const isComplete = keys.keys.every(
    ({ kid, d, createdUnixMs }) => kid && d && Number.isFinite(createdUnixMs),
  );
  // The text holds private keys, so the error does not quote it.
  if (!isComplete) throw new Error('a signing key is incomplete');
  return keys;
}

function parseKeys(text: string): unknown {
  let parsed: { readonly keys?: unknown };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    throw new Error('the keys are not valid JSON');
  }
  if (!Array.isArray(parsed.keys) || parsed.keys.length === 0) throw new Error('there are no keys');
  return parsed;
}
