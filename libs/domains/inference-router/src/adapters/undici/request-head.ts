import type { CredentialSettings, Target } from '../../core/catalogue/model-catalogue';
import { dialects } from '../../core/dialects/registry';
import { providerAddress, type ProviderAddress } from '../../core/provider/provider-address';

/** What the calls to a provider have in common. */
export interface RequestHead extends ProviderAddress {
  /** The headers, complete unless the credential signs each call or expires. */
  readonly headers: { readonly json: Headers; readonly stream: Headers };
}

type Headers = Readonly<Record<string, string>>;

export function requestHead({ provider, options }: Pick<Target, 'provider' | 'options'>): RequestHead {
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'inference-gateway',
    ...dialects[provider.dialect].headers?.(options),
    ...keyHeader(provider.credential),
    ...provider.headers,
  };
  return {
    ...providerAddress(provider.baseUrl),
    headers: {
      json: { ...headers, accept: 'application/json' },
      stream: { ...headers, accept: 'text/event-stream' },
    },
  };
}

function keyHeader(credential: CredentialSettings): Headers {
  switch (credential.kind) {
    case 'bearer':
      return { authorization: `Bearer ${credential.apiKey}` };
    case 'header':
      return { [credential.header]: credential.apiKey };
    default:
      return {};
  }
}
