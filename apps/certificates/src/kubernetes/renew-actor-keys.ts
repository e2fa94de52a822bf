import {
  parseSigningKeys,
  publicKeysOf,
  PUBLIC_KEYS_FILE,
  renewSigningKeys,
  SIGNING_KEYS_FILE,
  type SigningKeys,
} from '@gateway/actors';
import type { SecretStore } from './secret-store';
import { updateSecret } from './update-secret';

export interface RenewActorKeysOptions {
  /** Before the names of the secrets. */
  readonly prefix: string;
  readonly signers: readonly string[];
  readonly rotationDays: number;
}

/**
 * Creates the keys of signers that have none or are due for a new one, and
 * publishes the public keys of all. Two runs at a time are safe.
 *
 * @returns the secrets that were written.
 */
export async function renewActorKeys(
  store: SecretStore,
  { prefix, signers, rotationDays }: RenewActorKeysOptions,
): Promise<readonly string[]> {
  const nowUnixMs = Date.now();
  const written: string[] = [];
  for (const signer of signers) {
    const name = secretOf(prefix, signer);
    const wasWritten = await updateSecret(store, name, async ({ data }) => {
      const renewed = await renewSigningKeys(keysIn(data), { nowUnixMs, rotationDays });
      return renewed && { [SIGNING_KEYS_FILE]: JSON.stringify(renewed) };
    });
    if (wasWritten) written.push(name);
  }
  const published = `${prefix}-actor-public-keys`;
  const wasPublished = await updateSecret(store, published, async ({ data }) => {
    const secrets = await Promise.all(signers.map((signer) => store.read(secretOf(prefix, signer))));
    const keys = secrets.flatMap((secret) => keysIn(secret.data) ?? []);
    const text = JSON.stringify(publicKeysOf(keys));
    return text === data[PUBLIC_KEYS_FILE] ? undefined : { [PUBLIC_KEYS_FILE]: text };
  });
  return wasPublished ? [...written, published] : written;
}

function secretOf(prefix: string, signer: string): string {
  return `${prefix}-${signer}-actor-keys`;
}

function keysIn(data: Readonly<Record<string, string>>): SigningKeys | undefined {
  const text = data[SIGNING_KEYS_FILE];
  return text === undefined ? undefined : parseSigningKeys(text);
}
