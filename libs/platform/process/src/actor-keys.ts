import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createActorSigner,
  createActorVerifier,
  parsePublicKeys,
  parseSigningKeys,
  PUBLIC_KEYS_FILE,
  SIGNING_KEYS_FILE,
  type ActorSigner,
  type ActorVerifier,
} from '@gateway/actors';
import { ConfigError, systemClock as clock } from '@gateway/runtime';

/** Verifies assertions for one service with the public keys of a folder. Throws a ConfigError when there are none. */
export function openActorVerifier(folder: string, audience: string): ActorVerifier {
  const keys = keysReader(folder, PUBLIC_KEYS_FILE, parsePublicKeys);
  return createActorVerifier({ keys, audience, clock });
}

/** Signs assertions with the keys of a folder. Throws a ConfigError when there are none. */
export function openActorSigner(folder: string, issuer: string): ActorSigner {
  const keys = keysReader(folder, SIGNING_KEYS_FILE, parseSigningKeys);
  return createActorSigner({ keys, issuer, clock });
}

function keysReader<Keys>(folder: string, name: string, parse: (text: string) => Keys): () => Keys {
  const file = join(folder, name);
  const read = (): Keys => parse(readFileSync(file, 'utf8'));
  try {
    read();
  } catch (error) {
    throw new ConfigError([
      `GATEWAY_ACTOR_KEYS_DIR: ${file}: ${error instanceof Error ? error.message : String(error)}. The program "certificates" creates the file.`,
    ]);
  }
  return read;
}
