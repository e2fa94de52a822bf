import type { UnixMs } from '@gateway/base';
import type { PeoplePorts } from '../ports';
import { throttle } from '../sign-in/sign-in-throttle';
import { browserSecretsOf } from './browser-secrets';
import { insidePath } from './inside-path';
import { refused, type SignOnRefused } from './sign-on-refusal';

/** From the first click to the last, with a password to be found and a code to be typed at the provider. */
const SIGN_ON_MS = 10 * 60_000;
const CALLBACK_PATH = '/api/oidc/callback';

type StartPorts = Pick<
  PeoplePorts,
  'identityProvider' | 'signOns' | 'attempts' | 'addressRanges' | 'secrets' | 'clock'
>;

export interface StartSignOn {
  /** Where the dashboard is, such as "https://dashboard.example.com". */
  readonly dashboardUrl: string;
  readonly returnTo: string;
  readonly ipAddress: string;
  /** Of the session that the new one takes the place of. */
  readonly sessionToken?: string;
}

export interface StartedSignOn {
  readonly kind: 'started';
  readonly authorizationUrl: string;
  readonly state: string;
  /** For the browser to keep; what comes back counts in this browser alone. */
  readonly browserToken: string;
  readonly expiresAt: UnixMs;
}

/**
 * Begins a sign-in at the identity provider. The provider is asked first, so
 * that one that is away leaves nothing behind.
 */
export async function startSignOn(
  ports: StartPorts,
  { dashboardUrl, returnTo, ipAddress, sessionToken }: StartSignOn,
): Promise<StartedSignOn | SignOnRefused> {
  const { identityProvider, secrets, clock } = ports;
  if (!identityProvider) return refused('not_configured');
  if (await throttle(ports, 'link', ports.addressRanges.countedAs(ipAddress)))
    return refused('too_many_attempts');
  const state = secrets.random();
  const browserToken = secrets.random();
  const { browserSha256, nonce, codeVerifier } = browserSecretsOf(secrets, browserToken);
  const redirectUri = dashboardUrl + CALLBACK_PATH;
  const begun = await identityProvider.begin({ redirectUri, state, nonce, codeVerifier });
  if (begun.kind !== 'begun') return refused('unavailable', begun.detail);
  const expiresAt = (clock.now() + SIGN_ON_MS) as UnixMs;
  await ports.signOns.insert(secrets.sha256(state), {
    browserSha256,
    redirectUri,
    returnTo: insidePath(returnTo),
    ...(sessionToken === undefined ? {} : { replacedTokenSha256: secrets.sha256(sessionToken) }),
    expiresAt,
  });
  return { kind: 'started', authorizationUrl: begun.authorizationUrl, state, browserToken, expiresAt };
}
