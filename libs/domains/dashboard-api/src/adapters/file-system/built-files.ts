import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The folder with the public API's documents and their viewer, which the build copies next to the
 * bundle. Undefined when running from source.
 */
export function builtDocuments(): { readonly folder: string } | undefined {
  const folder = path.join(__dirname, 'documents');
  return existsSync(folder) ? { folder } : undefined;
}

/** The folder of the built web app; undefined when running from source. */
export function builtWebApp(): { readonly folder: string } | undefined {
  const folder = path.join(__dirname, '..', 'dashboard');
  return existsSync(path.join(folder, 'index.html')) ? { folder } : undefined;
}
