import type { PeoplePorts } from '../ports';
import { auditRefusedSignIn } from '../sign-in/audit-refused-sign-in';
import { canonicalEmail } from '../sign-in/member-rules';
import { endSessionByToken, type OpenedSession } from '../sign-in/sessions';
import { throttle } from '../sign-in/sign-in-throttle';
import { isRefusal } from '@gateway/errors';
import { readPersonName } from '../people/change-profile';
import { browserSecretsOf, type BrowserSecrets } from './browser-secrets';
import { domainOf } from './domains';
import {
  openSessionForIdentity,
  type IdentifyPorts,
  type VerifiedIdentity,
} from './open-session-for-identity';
import type { IdentityProvider, SignOn } from './ports';
import { isPersonRefusal, refused, type SignOnRefused } from './sign-on-refusal';

type FinishPorts = IdentifyPorts &
  Pick<PeoplePorts, 'identityProvider' | 'signOns' | 'domains' | 'attempts' | 'addressRanges' | 'auditLog'>;

export interface FinishSignOn {
  /** The raw query string of the provider's redirect. */
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
 * Opens a session for the person whom the identity provider has authenticated.
 * The callback is valid once, in the browser that started the sign-in. The
 * provider is trusted only for verified emails of mapped domains, so a provider
 * that admits anyone cannot open accounts of other domains.
 */
export async function finishSignOn(
  ports: FinishPorts,
  request: FinishSignOn,
): Promise<SignedOn | SignOnRefused> {
  const finished = await finish(ports, request);
  if (finished.kind === 'refused' && isPersonRefusal(finished.reason)) {
    const { member, reason } = finished;
    await auditRefusedSignIn(ports, { member, ipAddress: request.ipAddress, reason });
  }
  return finished;
}

async function finish(ports: FinishPorts, request: FinishSignOn): Promise<SignedOn | SignOnRefused> {
  if (!ports.identityProvider) return refused('not_configured');
  if (await throttle(ports, 'link', ports.addressRanges.networkOf(request.ipAddress)))
    return refused('too_many_attempts');
  const state = new URLSearchParams(request.callbackQuery).get('state') ?? '';
  const browser = browserSecretsOf(ports.secrets, request.browserToken);
  const signOn = await ports.signOns.consume(ports.secrets.sha256(state), browser.browserSha256);
  if (!signOn || signOn.expiresAt <= ports.clock.now()) return refused('state_invalid');

  const identity = await identify(ports.identityProvider, { request, state, browser, signOn });
  if (identity.kind === 'refused') return identity;
  const mapping = await ports.domains.find(identity.domain);
  if (!mapping) return refused('domain_not_mapped');
  const { ipAddress, device } = request;
  const opened = await openSessionForIdentity(ports, identity, mapping, { ipAddress, device });
  if (opened.kind === 'refused') return opened;
  // Recorded at the start: browsers omit the SameSite session cookie on a redirect from another site.
  if (signOn.replacedTokenSha256) await endSessionByToken(ports, signOn.replacedTokenSha256);
  return { ...opened, kind: 'signed_on', returnTo: signOn.returnTo };
}

interface CallbackInput {
  readonly request: FinishSignOn;
  readonly state: string;
  readonly browser: BrowserSecrets;
  readonly signOn: SignOn;
}

async function identify(
  provider: IdentityProvider,
  { request, state, browser: { nonce, codeVerifier }, signOn }: CallbackInput,
): Promise<VerifiedIdentity | SignOnRefused> {
  const { redirectUri } = signOn;
  const { callbackQuery } = request;
  const result = await provider.finish({ redirectUri, callbackQuery, state, nonce, codeVerifier });
  if (result.kind !== 'identified') return refused(result.kind, result.detail);
  const email = result.email === undefined ? undefined : canonicalEmail(result.email);
  const domain = email === undefined ? undefined : domainOf(email);
  if (email === undefined || domain === undefined || !result.emailVerified)
    return refused('email_not_verified');
  const { issuer, subject } = result;
  const name = readPersonName(result.name ?? '');
  // The person can change it later, so it is no reason to refuse the sign-in.
  return { kind: 'verified', issuer, subject, email, name: isRefusal(name) ? '' : name, domain };
}
