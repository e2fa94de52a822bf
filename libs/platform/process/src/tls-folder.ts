import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RpcTls, RpcTlsFiles } from '@gateway/rpc/grpc';

/** The certificates of a folder as certificate managers mount it. */
export interface TlsFolder {
  /** For servers, which follow the files. */
  readonly files: RpcTlsFiles;
  /** For each new connection of a client: as the files are now. */
  read(): RpcTls;
}

export function openTlsFolder(folder: string): TlsFolder {
  const files: RpcTlsFiles = {
    certificateAuthorityFile: join(folder, 'ca.crt'),
    certificateFile: join(folder, 'tls.crt'),
    privateKeyFile: join(folder, 'tls.key'),
  };
  return {
    files,
    read: () => ({
      certificateAuthority: readFileSync(files.certificateAuthorityFile),
      certificate: readFileSync(files.certificateFile),
      privateKey: readFileSync(files.privateKeyFile),
    }),
  };
}
