import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KafkaCertificates } from '@gateway/events/kafka';

/**
 * Reads a folder with `ca.crt`, and with `tls.crt` and `tls.key` for a client certificate.
 *
 * @throws Error when `ca.crt` cannot be read, or there is only one file of the client certificate.
 */
export function readKafkaCertificates(folder: string): KafkaCertificates {
  const ca = readFileSync(join(folder, 'ca.crt'));
  const [cert, key] = ['tls.crt', 'tls.key'].map((name) => readIfPresent(join(folder, name)));
  if (cert === undefined && key === undefined) return { ca };
  if (cert === undefined || key === undefined) {
    throw new Error(`${folder} has only one of tls.crt and tls.key`);
  }
  return { ca, cert, key };
}

function readIfPresent(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
