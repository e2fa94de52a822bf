import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RpcTls, RpcTlsFiles } from '@gateway/rpc/grpc';
import { ConfigError } from '@gateway/runtime';
import type { ServiceConfig } from './settings';

/** Certificates in a folder, as mounted by certificate managers. */
export interface TlsFolder {
  /** For servers, which watch the files. */
  readonly files: RpcTlsFiles;
  /** For each new connection of a client: the current contents of the files. */
  read(): RpcTls;
}

export function openTlsFolder(folder: string): TlsFolder {
  const files: RpcTlsFiles = {
    certificateAuthorityFile: join(folder, 'ca.crt'),
    certificateFile: join(folder, 'tls.crt'),
    privateKeyFile: join(folder, 'tls.key'),
  };
  const read = (): RpcTls => ({
    certificateAuthority: readFileSync(files.certificateAuthorityFile),
    certificate: readFileSync(files.certificateFile),
    privateKey: readFileSync(files.privateKeyFile),
  });
  return { files, read };
}

/** The certificates of a service; undefined in plain text. Throws a ConfigError when they cannot be read. */
export function openRpcTls({
  GATEWAY_RPC_SECURITY: security,
  GATEWAY_RPC_TLS_DIR: folder,
}: ServiceConfig): TlsFolder | undefined {
  if (security === 'plaintext') return undefined;
  const tls = openTlsFolder(folder);
  try {
    tls.read();
  } catch (error) {
    throw new ConfigError([
      `GATEWAY_RPC_TLS_DIR: ${error instanceof Error ? error.message : String(error)}. Services need certificates for each other unless GATEWAY_RPC_SECURITY is "plaintext".`,
    ]);
  }
  return tls;
}
