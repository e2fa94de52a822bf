import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';

/** PEM files: a certificate with its intermediate certificates, and its private key. */
export interface TlsFiles {
  readonly certificateFile: string;
  readonly privateKeyFile: string;
}

/** How often the files are checked for a renewed certificate. */
const TLS_FILES_CHECK_MS = 10_000;

export const MIN_TLS_VERSION = 'TLSv1.2';

interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws Error that names the file when one is missing or the two do not belong together. */
export function readTlsFiles({ certificateFile, privateKeyFile }: TlsFiles): TlsIdentity {
  const identity = { cert: readFileSync(certificateFile), key: readFileSync(privateKeyFile) };
  try {
    createSecureContext(identity);
  } catch (error) {
    throw new Error(`${certificateFile} and ${privateKeyFile} are not a certificate and its private key`, {
      cause: error,
    });
  }
  return identity;
}

/**
 * Uses renewed files for new connections. While they are unreadable, the server keeps its certificate.
 *
 * @param onError - called once for each change that is unreadable.
 * @returns a function that ends the checks.
 */
export function watchTlsFiles(
  server: Server,
  files: TlsFiles,
  current: TlsIdentity,
  onError: (error: Error) => void,
): () => void {
  let served = current;
  let lastError = '';
  const check = (): void => {
    try {
      const found = readTlsFiles(files);
      lastError = '';
      if (found.cert.equals(served.cert) && found.key.equals(served.key)) return;
      server.setSecureContext({ ...found, minVersion: MIN_TLS_VERSION });
      served = found;
    } catch (error) {
      const { message } = error as Error;
      if (message !== lastError) onError(error as Error);
      lastError = message;
    }
  };
  const timer = setInterval(check, TLS_FILES_CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
