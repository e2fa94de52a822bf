import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecretStoreOptions } from './kubernetes/secret-store';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The API server as this pod reaches it. Node trusts its certificate through NODE_EXTRA_CA_CERTS. */
export function readPodConfig(): SecretStoreOptions {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (host === undefined) throw new Error('--kubernetes works only inside a pod');
  const read = (file: string): string => readFileSync(join(SERVICE_ACCOUNT, file), 'utf8').trim();
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    token: read('token'),
    namespace: read('namespace'),
  };
}
