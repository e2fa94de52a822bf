import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** The URLs and credentials of the local gateway, for people and tools. */
const devFile = z.object({
  baseUrl: z.string(),
  apiKey: z.string(),
  dashboardUrl: z.string(),
  adminEmail: z.string(),
  adminPassword: z.string(),
});

export type DevFile = z.output<typeof devFile>;

const devFilePath = (stateDirectory: string) => path.join(stateDirectory, 'dev.json');

/** The file of an earlier start; undefined when it is missing or not valid. */
export function readDevFile(stateDirectory: string): DevFile | undefined {
  try {
    return devFile.parse(JSON.parse(readFileSync(devFilePath(stateDirectory), 'utf8')));
  } catch {
    return undefined;
  }
}

const versionFilePath = (stateDirectory: string) => path.join(stateDirectory, 'admin-password-version');

/** The version of the password in the database when the file was written. Only the gateway uses it. */
export function readPasswordVersion(stateDirectory: string): string | undefined {
  try {
    return readFileSync(versionFilePath(stateDirectory), 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function writePasswordVersion(stateDirectory: string, version: string): void {
  writeFileSync(versionFilePath(stateDirectory), `${version}\n`, { mode: 0o600 });
}

/** Writes the file atomically, readable only by its owner. */
export function writeDevFile(stateDirectory: string, content: DevFile): void {
  mkdirSync(stateDirectory, { recursive: true });
  const target = devFilePath(stateDirectory);
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, target);
}
