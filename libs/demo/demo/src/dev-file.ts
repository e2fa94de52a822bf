import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** What a person or a program needs to use the gateway that `npm start` started. */
const devFile = z.object({
  baseUrl: z.string(),
  apiKey: z.string(),
  dashboardUrl: z.string(),
  adminEmail: z.string(),
  adminPassword: z.string(),
});

export type DevFile = z.output<typeof devFile>;

const nameIn = (stateDirectory: string) => path.join(stateDirectory, 'dev.json');

/** What an earlier start wrote; undefined when there is nothing usable, in which case it is written anew. */
export function readDevFile(stateDirectory: string): DevFile | undefined {
  try {
    return devFile.parse(JSON.parse(readFileSync(nameIn(stateDirectory), 'utf8')));
  } catch {
    return undefined;
  }
}

const versionNameIn = (stateDirectory: string) => path.join(stateDirectory, 'admin-password-version');

/** Which password was in the database when the file above was written: of use to the gateway only, so not in it. */
export function readPasswordVersion(stateDirectory: string): string | undefined {
  try {
    return readFileSync(versionNameIn(stateDirectory), 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function writePasswordVersion(stateDirectory: string, version: string): void {
  writeFileSync(versionNameIn(stateDirectory), `${version}\n`, { mode: 0o600 });
}

/** Readable by its owner only, and whole or not there: a crash leaves no half of it. */
export function writeDevFile(stateDirectory: string, content: DevFile): void {
  mkdirSync(stateDirectory, { recursive: true });
  const target = nameIn(stateDirectory);
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, target);
}
