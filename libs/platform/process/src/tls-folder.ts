import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RpcTls, RpcTlsFiles } from '@gateway/rpc/grpc';

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
  return {
    files,
    read: () => ({
      certificateAuthority: readFileSync(files.certificateAuthorityFile),
      certificate: readFileSync(files.certificateFile),
      privateKey: readFileSync(files.privateKeyFile),
    }),
  };
}
