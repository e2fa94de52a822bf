import type { Secret, SecretStore } from './secret-store';

const MAX_CONFLICTS = 5;

/** @returns whether the secret was written. */
export async function updateSecret(
  store: SecretStore,
  name: string,
  change: (current: Secret) => Promise<Readonly<Record<string, string>> | undefined>,
): Promise<boolean> {
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
    const current = await store.read(name);
    const data = await change(current);
    if (data === undefined) return false;
    if (await store.write(name, current.version, data)) return true;
  }
  throw new Error(`${name} changes faster than it can be written`);
}
