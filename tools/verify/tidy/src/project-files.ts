import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(__dirname, '../../../..');

const NOT_WRITTEN_BY_HAND = /^(?:package-lock\.json|pnpm-lock\.yaml|LICENSE.*)$/;
const SKIPPED = new Set(['node_modules', 'dist', 'generated', 'coverage', '.git', '.nx', '.gateway']);

export interface ProjectFile {
  /** From the root, with forward slashes. */
  readonly name: string;
  readonly text: string;
}

/** Every hand-written text file of the project. */
export function projectFiles(folder = ''): ProjectFile[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (SKIPPED.has(entry.name)) return [];
    if (entry.isDirectory()) return projectFiles(name);
    if (!entry.isFile() || NOT_WRITTEN_BY_HAND.test(entry.name)) return [];
    // Pictures, and recorded responses of providers.
    if (/\.(?:png|jsonl)$/.test(entry.name)) return [];
    return [{ name, text: readFileSync(path.join(root, name), 'utf8') }];
  });
}

export function isTypeScript({ name }: ProjectFile): boolean {
  return /\.tsx?$/.test(name) && !name.endsWith('.d.ts');
}

/** Specs, contract suites and their helpers. */
export function isForTests({ name }: ProjectFile): boolean {
  return /\.(spec|contract)\.tsx?$|\/(testing|test-support|e2e)\//.test(name);
}

/** Names, without extension, of the files that a file imports by relative path. */
export function relativeImports({ name, text }: ProjectFile): string[] {
  return [...text.matchAll(/(?:from|import|require)\s*\(?\s*'(\.[^']*)'/g)].map(([, target = '']) =>
    path.posix.join(path.posix.dirname(name), target),
  );
}
