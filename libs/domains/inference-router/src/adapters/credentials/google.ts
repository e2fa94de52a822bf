import type { Credential } from '../../core/credential';
import { RefreshedSecret, type RefreshPorts, type ResolvedSecret } from './refreshed-secret';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

type Headers = Readonly<Record<string, string>>;

interface GoogleOptions extends RefreshPorts {
  /**
   * A service account key or a workload identity configuration. Default: Google's own chain of GOOGLE_APPLICATION_CREDENTIALS,
   * files, and the metadata server, which serves Workload Identity of pods.
   */
  readonly keyFile: string | undefined;
}

/** Authorizes calls by an access token of Google Cloud. Its library is loaded by the first call. */
export class GoogleCredential implements Credential {
  private readonly token: RefreshedSecret<Headers>;

  constructor({ keyFile, ...ports }: GoogleOptions) {
    this.token = new RefreshedSecret({
      ...ports,
      name: 'Google credentials',
      resolve: () => resolveToken(keyFile),
    });
  }

  authorize(): Headers | Promise<Headers> {
    return this.token.get();
  }

  close(): Promise<void> {
    this.token.close();
    return Promise.resolve();
  }
}

/** A new client each time, since a client keeps the file that it has read. */
async function resolveToken(keyFile: string | undefined): Promise<ResolvedSecret<Headers>> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({ scopes: SCOPE, keyFile });
  const client = await auth.getClient();
  // The token, and the project that pays where the credentials name one.
  const headers = Object.fromEntries(await client.getRequestHeaders());
  return { value: headers, expiresAtMs: client.credentials.expiry_date ?? undefined };
}
