import type { Credential } from '../../core/credential';
import { RefreshedSecret, type RefreshPorts, type ResolvedSecret } from './refreshed-secret';

/** The scope of Azure OpenAI and Microsoft Foundry. */
const SCOPE = 'https://ai.azure.com/.default';

type Headers = Readonly<Record<string, string>>;

/**
 * Authorizes calls by an access token of Microsoft Entra ID, from Azure's own chain: variables, Workload Identity of
 * pods, and managed identities. Its library is loaded by the first call.
 */
export class EntraCredential implements Credential {
  private readonly token: RefreshedSecret<Headers>;

  constructor(ports: RefreshPorts) {
    this.token = new RefreshedSecret({
      ...ports,
      name: 'Microsoft Entra credentials',
      resolve: resolveToken,
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

/** The library caches tokens until five minutes before they expire, when they are refreshed here. */
async function resolveToken(): Promise<ResolvedSecret<Headers>> {
  const { DefaultAzureCredential } = await import('@azure/identity');
  const { token, expiresOnTimestamp } = await new DefaultAzureCredential().getToken(SCOPE);
  return { value: { authorization: `Bearer ${token}` }, expiresAtMs: expiresOnTimestamp };
}
