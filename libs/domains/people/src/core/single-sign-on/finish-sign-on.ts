import type { PeoplePorts } from '../ports';
import { canonicalEmail } from '../sign-in/member-rules';
import { endSessionOf, type OpenedSession } from '../sign-in/sessions';
import { throttle } from '../sign-in/sign-in-throttle';
import { browserSecretsOf, type BrowserSecrets } from './browser-secrets';
import { domainOf } from './domains';
import { openSessionOf, type IdentifyPorts, type VerifiedIdentity } from './open-session-of';
import type { IdentityProvider, SignOn } from './ports';
import { refused, type SignOnRefused } from './sign-on-refusal';

type FinishPorts = IdentifyPorts &
  Pick<PeoplePorts, 'identityProvider' | 'signOns' | 'domains' | 'attempts' | 'addressRanges'>;

export interface FinishSignOn {
  /** The query of the address that the browser came back to, as it is. */
  readonly callbackQuery: string;
  readonly browserToken: string;
  readonly ipAddress: string;
  readonly device: string;
}

export interface SignedOn extends OpenedSession {
  readonly kind: 'signed_on';
  readonly returnTo: string;
}

/**
 * Opens a session for whom the identity provider vouches. What the browser came
 * back with counts once, in the browser where it was begun. The provider speaks
 * for a person by a verified email of a mapped domain, and for no other: one
 * that lets everybody in must not open accounts of other domains.
 */
export async function finishSignOn(
  ports: FinishPorts,
  request: FinishSignOn,
): Promise<SignedOn | SignOnRefused> {
  if (!ports.identityProvider) return refused('not_configured');
  if (await throttle(ports, 'link', ports.addressRanges.countedAs(request.ipAddress)))
    return refused('too_many_attempts');
  const state = new URLSearchParams(request.callbackQuery).get('state') ?? '';
  const browser = browserSecretsOf(ports.secrets, request.browserToken);
  const signOn = await ports.signOns.take(ports.secrets.sha256(state), browser.browserSha256);
  if (!signOn || signOn.expiresAt <= ports.clock.now()) return refused('not_begun');

  const identity = await identify(ports.identityProvider, { request, state, browser, signOn });
  if (identity.kind === 'refused') return identity;
  const mapping = await ports.domains.find(identity.domain);
  if (!mapping) return refused('domain_not_mapped');
  const { ipAddress, device } = request;
  const opened = await openSessionOf(ports, identity, mapping, { ipAddress, device });
  if (opened.kind === 'refused') return opened;
  // The cookie of before does not travel with a browser that comes from another site, so it was noted at the start.
  if (signOn.replacedTokenSha256) await endSessionOf(ports, signOn.replacedTokenSha256);
  return { ...opened, kind: 'signed_on', returnTo: signOn.returnTo };
}

interface CameBack {
  readonly request: FinishSignOn;
  readonly state: string;
  readonly browser: BrowserSecrets;
  readonly signOn: SignOn;
}

async function identify(
  provider: IdentityProvider,
  { request, state, browser: { nonce, codeVerifier }, signOn }: CameBack,
): Promise<VerifiedIdentity | SignOnRefused> {
  const { redirectUri } = signOn;
  const { callbackQuery } = request;
  const answer = await provider.finish({ redirectUri, callbackQuery, state, nonce, codeVerifier });
  if (answer.kind !== 'identified') return refused(answer.kind, answer.detail);
  const email = answer.email === undefined ? undefined : canonicalEmail(answer.email);
  const domain = email === undefined ? undefined : domainOf(email);
  if (email === undefined || domain === undefined || !answer.emailVerified)
    return refused('email_not_verified');
  const { issuer, subject } = answer;
  return { kind: 'verified', issuer, subject, email, domain };
}
