import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The folder into which the build copies the documentation of the public API
 * and its viewer, beside the program. Absent when the program runs from its
 * sources, as in some tests.
 */
export function builtDocuments(): { readonly folder: string } | undefined {
  const folder = path.join(__dirname, 'documents');
  return existsSync(folder) ? { folder } : undefined;
}

/** The folder of the built web app; absent as above. */
export function builtWebApp(): { readonly folder: string } | undefined {
  const folder = path.join(__dirname, '..', 'dashboard');
  return existsSync(path.join(folder, 'index.html')) ? { folder } : undefined;
}
