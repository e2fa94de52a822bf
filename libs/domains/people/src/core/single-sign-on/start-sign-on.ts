import type { UnixMs } from '@gateway/base';
import type { PeoplePorts } from '../ports';
import { throttle } from '../sign-in/sign-in-throttle';
import { browserSecretsOf } from './browser-secrets';
import { sanitizeReturnPath } from './sanitize-return-path';
import { refused, type SignOnRefused } from './sign-on-refusal';

/** Time for the whole sign-in at the provider, including a password and a second factor. */
const SIGN_ON_MS = 10 * 60_000;
const CALLBACK_PATH = '/api/oidc/callback';

type StartPorts = Pick<
  PeoplePorts,
  'identityProvider' | 'signOns' | 'attempts' | 'addressRanges' | 'secrets' | 'clock'
>;

export interface StartSignOn {
  /** The dashboard's origin, such as "https://dashboard.example.com". */
  readonly dashboardUrl: string;
  readonly returnTo: string;
  readonly ipAddress: string;
  /** The session that the new session replaces. */
  readonly sessionToken?: string | undefined;
}

export interface StartedSignOn {
  readonly kind: 'started';
  readonly authorizationUrl: string;
  readonly state: string;
  /** For a cookie. The callback is valid in this browser only. */
  readonly browserToken: string;
  readonly expiresAt: UnixMs;
}

/**
 * Starts a sign-in at the identity provider. Stores it after the provider's
 * metadata is available, so an unavailable provider leaves no rows behind.
 */
export async function startSignOn(
  ports: StartPorts,
  { dashboardUrl, returnTo, ipAddress, sessionToken }: StartSignOn,
): Promise<StartedSignOn | SignOnRefused> {
  const { identityProvider, secrets, clock } = ports;
  if (!identityProvider) return refused('not_configured');
  if (await throttle(ports, 'link', ports.addressRanges.networkOf(ipAddress)))
    return refused('too_many_attempts');
  const state = secrets.random();
  const browserToken = secrets.random();
  const { browserSha256, nonce, codeVerifier } = browserSecretsOf(secrets, browserToken);
  const redirectUri = dashboardUrl + CALLBACK_PATH;
  const started = await identityProvider.start({ redirectUri, state, nonce, codeVerifier });
  if (started.kind !== 'started') return refused('unavailable', started.detail);
  const expiresAt = (clock.now() + SIGN_ON_MS) as UnixMs;
  await ports.signOns.insert(secrets.sha256(state), {
    browserSha256,
    redirectUri,
    returnTo: sanitizeReturnPath(returnTo),
    ...(sessionToken === undefined ? {} : { replacedTokenSha256: secrets.sha256(sessionToken) }),
    expiresAt,
  });
  return { kind: 'started', authorizationUrl: started.authorizationUrl, state, browserToken, expiresAt };
}
