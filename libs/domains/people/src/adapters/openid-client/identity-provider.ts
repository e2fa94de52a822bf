import type * as OpenIdClient from 'openid-client';
import type { Clock } from '@gateway/base';
import type { IdentityProvider, OidcSettings, IdentityResult } from '../../core/single-sign-on/ports';
import { fetchWithSizeLimit } from './fetch-with-size-limit';
import { mapOidcError } from './map-oidc-error';

/** Timeout of one request. A sign-in makes at most four. */
const REQUEST_TIMEOUT_S = 4;
const METADATA_TTL_MS = 60 * 60_000;
const SCOPE = 'openid email profile';

/** OpenID Connect with openid-client. The provider need not be reachable at startup. */
export function createOidcIdentityProvider(settings: OidcSettings, clock: Clock): IdentityProvider {
  const discover = createDiscovery(settings, clock);

  return {
    label: settings.label,

    async start({ redirectUri, state, nonce, codeVerifier }) {
      try {
        const client = await loadClient();
        const url = client.buildAuthorizationUrl(await discover(client), {
          redirect_uri: redirectUri,
          scope: SCOPE,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        });
        return { kind: 'started', authorizationUrl: url.href };
      } catch (error) {
        return { kind: 'unavailable', detail: mapOidcError(error).detail };
      }
    },

    async finish({ redirectUri, callbackQuery, state, nonce, codeVerifier }): Promise<IdentityResult> {
      try {
        const client = await loadClient();
        const configuration = await discover(client);
        const callbackUrl = new URL(redirectUri);
        callbackUrl.search = callbackQuery;
        const tokens = await client.authorizationCodeGrant(configuration, callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
        });
        const idToken = tokens.claims();
        if (!idToken) return { kind: 'failed', detail: 'there is no ID token' };
        if (!idToken.sub) return { kind: 'failed', detail: 'the ID token has no subject' };
        // Most providers put the email into the ID token; others return it from the userinfo endpoint only.
        const claims =
          idToken['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
            ? await client.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
            : idToken;
        const { email, email_verified: verified, name } = claims;
        return {
          kind: 'identified',
          issuer: idToken.iss,
          subject: idToken.sub,
          ...(typeof email === 'string' ? { email } : {}),
          ...(typeof name === 'string' ? { name } : {}),
          // Some providers send it as a string.
          emailVerified: verified === true || String(verified) === 'true',
        };
      } catch (error) {
        return mapOidcError(error);
      }
    },
  };
}

/** Imported on first use: it is an ES module, and most deployments do not use it. */
const loadClient = (): Promise<typeof OpenIdClient> => import('openid-client');

/** Fetches the provider's metadata and caches it for an hour. Failures are not cached. */
function createDiscovery({ issuer, clientId, clientSecret }: OidcSettings, clock: Clock) {
  let cached: { readonly until: number; readonly result: Promise<OpenIdClient.Configuration> } | undefined;

  async function fetchMetadata(client: typeof OpenIdClient): Promise<OpenIdClient.Configuration> {
    const { ClientSecretBasic, ClientSecretPost, allowInsecureRequests, enableNonRepudiationChecks } = client;
    const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
    const authentication: OpenIdClient.ClientAuth = (server, ...request) => {
      const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      (supported.includes('client_secret_basic') ? basic : post)(server, ...request);
    };
    return client.discovery(new URL(issuer), clientId, undefined, authentication, {
      timeout: REQUEST_TIMEOUT_S,
      [client.customFetch]: fetchWithSizeLimit,
      execute: [
        // Verify signatures of ID tokens, even though they come directly from the provider.
        enableNonRepudiationChecks,
        ...(issuer.startsWith('http:') ? [allowInsecureRequests] : []),
      ],
    });
  }

  return (client: typeof OpenIdClient): Promise<OpenIdClient.Configuration> => {
    const now = clock.now();
    if (cached && cached.until > now) return cached.result;
    const result = fetchMetadata(client);
    const entry = { until: now + METADATA_TTL_MS, result };
    cached = entry;
    result.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return result;
  };
}
