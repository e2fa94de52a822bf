import { join } from 'node:path';
import {
  parseSigningKeys,
  publicKeysOf,
  PUBLIC_KEYS_FILE,
  renewSigningKeys,
  SIGNING_KEYS_FILE,
  type SigningKeys,
} from '@gateway/actors';
import { readIfPresent, writeFiles } from './files';

export interface ActorKeysOptions {
  /** The services that get the public keys. */
  readonly services: readonly string[];
  /** The services that sign assertions. */
  readonly signers: readonly string[];
  /** A signer gets a new key when its newest is older than this. */
  readonly rotationDays: number;
  readonly nowUnixMs: number;
}

/** Writes `<folder>/<signer>/actor-signing-keys.json`, and the public keys of all signers into each service's folder. */
export async function writeActorKeys(
  folder: string,
  { services, signers, rotationDays, nowUnixMs }: ActorKeysOptions,
): Promise<void> {
  const all: SigningKeys[] = [];
  for (const signer of signers) {
    const own = join(folder, signer);
    const text = readIfPresent(join(own, SIGNING_KEYS_FILE));
    const current = text === undefined ? undefined : parseSigningKeys(text);
    const renewed = await renewSigningKeys(current, { nowUnixMs, rotationDays });
    if (renewed !== undefined) writeFiles(own, { [SIGNING_KEYS_FILE]: JSON.stringify(renewed) });
    const keys = renewed ?? current;
    if (keys !== undefined) all.push(keys);
  }
  const publicKeys = JSON.stringify(publicKeysOf(all));
  for (const service of services) writeFiles(join(folder, service), { [PUBLIC_KEYS_FILE]: publicKeys });
}
