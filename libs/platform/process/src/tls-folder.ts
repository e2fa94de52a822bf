import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RpcTls, RpcTlsFiles } from '@gateway/rpc/grpc';
import { ConfigError } from '@gateway/runtime';
import type { ServiceConfig } from './settings';

/** The certificates of one service, in a folder as mounted by certificate managers. */
export interface TlsFolder {
  /** For servers, which watch the files. */
  readonly files: RpcTlsFiles;
  /** The domain of the service names in certificates. */
  readonly identityDomain: string;
  /** For a new connection to a service, whose certificate must carry its name: the current contents of the files. */
  clientTls(service: string): RpcTls;
}

export function openTlsFolder(folder: string, identityDomain: string): TlsFolder {
  const files: RpcTlsFiles = {
    certificateAuthorityFile: join(folder, 'ca.crt'),
    certificateFile: join(folder, 'tls.crt'),
    privateKeyFile: join(folder, 'tls.key'),
  };
  return {
    files,
    identityDomain,
    clientTls: (service) => ({
      certificateAuthority: readFileSync(files.certificateAuthorityFile),
      certificate: readFileSync(files.certificateFile),
      privateKey: readFileSync(files.privateKeyFile),
      serverName: `${service}.${identityDomain}`,
    }),
  };
}

/** The certificates of a service; undefined in plain text. Throws a ConfigError when they cannot be read. */
export function openRpcTls({
  GATEWAY_RPC_SECURITY: security,
  GATEWAY_RPC_TLS_DIR: folder,
  GATEWAY_RPC_TLS_DOMAIN: domain,
}: ServiceConfig): TlsFolder | undefined {
  if (security === 'plaintext') return undefined;
  const tls = openTlsFolder(folder, domain);
  try {
    for (const file of Object.values(tls.files)) accessSync(file, constants.R_OK);
  } catch (error) {
    throw new ConfigError([
      `GATEWAY_RPC_TLS_DIR: ${error instanceof Error ? error.message : String(error)}. Services need certificates for each other unless GATEWAY_RPC_SECURITY is "plaintext".`,
    ]);
  }
  return tls;
}
