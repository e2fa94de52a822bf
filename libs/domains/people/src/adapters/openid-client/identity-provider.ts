import type * as OpenIdClient from 'openid-client';
import type { Clock } from '@gateway/base';
import type { IdentityProvider, OidcSettings, SignOnAnswer } from '../../core/single-sign-on/ports';
import { fetchAtMost } from './fetch-at-most';
import { unsuccessful } from './unsuccessful';

/** Each request; a sign-in makes four at most. */
const REQUEST_TIMEOUT_S = 4;
/** After this long the provider's own description is read again. */
const DESCRIPTION_MS = 60 * 60_000;
/** Who the person is, and where to write to them; nothing else is asked for. */
const SCOPE = 'openid email';

/** OpenID Connect by openid-client, which is loaded when it is first needed. Starts without asking the provider. */
export function createOidcIdentityProvider(settings: OidcSettings, clock: Clock): IdentityProvider {
  const configuration = createDescription(settings, clock);

  return {
    label: settings.label,

    async begin({ redirectUri, state, nonce, codeVerifier }) {
      try {
        const client = await loadClient();
        const url = client.buildAuthorizationUrl(await configuration(client), {
          redirect_uri: redirectUri,
          scope: SCOPE,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        });
        return { kind: 'begun', authorizationUrl: url.href };
      } catch (error) {
        return { kind: 'unavailable', detail: unsuccessful(error).detail };
      }
    },

    async finish({ redirectUri, callbackQuery, state, nonce, codeVerifier }): Promise<SignOnAnswer> {
      try {
        const client = await loadClient();
        const found = await configuration(client);
        const cameBackTo = new URL(redirectUri);
        cameBackTo.search = callbackQuery;
        const tokens = await client.authorizationCodeGrant(found, cameBackTo, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
        });
        const idToken = tokens.claims();
        if (!idToken) return { kind: 'failed', detail: 'there is no ID token' };
        // Most providers put the email into the ID token, others tell it when they are asked.
        const said =
          idToken['email'] === undefined && found.serverMetadata().userinfo_endpoint !== undefined
            ? await client.fetchUserInfo(found, tokens.access_token, idToken.sub)
            : idToken;
        const { email, email_verified: verified } = said;
        return {
          kind: 'identified',
          issuer: idToken.iss,
          subject: idToken.sub,
          ...(typeof email === 'string' ? { email } : {}),
          // Some write it as text.
          emailVerified: verified === true || String(verified) === 'true',
        };
      } catch (error) {
        return unsuccessful(error);
      }
    },
  };
}

/** ES modules alone, and of use to few: so not loaded at the start. */
const loadClient = (): Promise<typeof OpenIdClient> => import('openid-client');

/** The provider's description of itself, remembered for a while; a failure is not. */
function createDescription({ issuer, clientId, clientSecret }: OidcSettings, clock: Clock) {
  let remembered: { readonly until: number; readonly found: Promise<OpenIdClient.Configuration> } | undefined;

  async function discover(client: typeof OpenIdClient): Promise<OpenIdClient.Configuration> {
    const { ClientSecretBasic, ClientSecretPost, allowInsecureRequests, enableNonRepudiationChecks } = client;
    const [basic, post] = [ClientSecretBasic(clientSecret), ClientSecretPost(clientSecret)];
    const authentication: OpenIdClient.ClientAuth = (server, ...request) => {
      const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      (supported.includes('client_secret_basic') ? basic : post)(server, ...request);
    };
    return client.discovery(new URL(issuer), clientId, undefined, authentication, {
      timeout: REQUEST_TIMEOUT_S,
      [client.customFetch]: fetchAtMost,
      execute: [
        // Signatures of ID tokens are checked though they come straight from the provider.
        enableNonRepudiationChecks,
        ...(issuer.startsWith('http:') ? [allowInsecureRequests] : []),
      ],
    });
  }

  return (client: typeof OpenIdClient): Promise<OpenIdClient.Configuration> => {
    const now = clock.now();
    if (remembered && remembered.until > now) return remembered.found;
    const found = discover(client);
    const current = { until: now + DESCRIPTION_MS, found };
    remembered = current;
    found.catch(() => {
      if (remembered === current) remembered = undefined;
    });
    return found;
  };
}
