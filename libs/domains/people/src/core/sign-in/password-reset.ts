import { personLabel, type CancelSignal, type Mailer, type UnixMs } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { notFound, refusals, type AdminRefusal, auditOf, type Actor, isIdLike } from '@gateway/auth-shared';
import { countResetEmail } from '../email/count-emails';
import type { PeoplePorts } from '../ports';
import type { StoredMember } from '../ports';
import { checkPassword } from './check-password';
import { canonicalEmail } from './member-rules';
import { awaitRevocation } from './sessions';
import { throttle } from './sign-in-throttle';

const PASSWORD_RESET_MS = 60 * 60_000;

type ResetPorts = Pick<
  PeoplePorts,
  | 'members'
  | 'managementTokens'
  | 'memberships'
  | 'passwordResets'
  | 'passwords'
  | 'passwordStrength'
  | 'attempts'
  | 'addressRanges'
  | 'secrets'
  | 'mailer'
  | 'background'
  | 'clock'
  | 'newId'
  | 'settings'
>;

/**
 * Emails a reset link if the member exists. The member is looked up after the
 * response, so neither the response nor its time reveals who is a member.
 */
export async function requestPasswordReset(
  ports: ResetPorts,
  { email: requested, ipAddress, dashboardUrl }: { email: string; ipAddress: string; dashboardUrl: string },
): Promise<AdminRefusal | undefined> {
  const { mailer } = ports;
  if (!mailer) return refusals.mailNotConfigured;
  const email = canonicalEmail(requested) ?? '';
  const tooMany =
    (await throttle(ports, 'link', ports.addressRanges.networkOf(ipAddress))) ??
    (await countResetEmail(ports, email));
  if (tooMany) return tooMany;
  if (email === '') return undefined;
  const started = ports.background.start('send a password reset email', async () => {
    const member = await ports.members.findByEmail(email);
    if (!member || member.disabled) return;
    const actor = { id: member.id, label: personLabel(member), ipAddress };
    const { link } = await createLink(ports, member, actor, 'member.request_password_reset', dashboardUrl);
    await sendLink(mailer, email, link);
  });
  if (!started)
    throw new GatewayError('no_capacity', { internalMessage: 'too many password resets at once' });
  return undefined;
}

async function sendLink(mailer: Mailer, to: string, link: string): Promise<void> {
  await mailer.send({
    to,
    subject: 'Reset your password',
    paragraphs: ['We received a request to reset the password of your Inference Gateway account.'],
    link: { label: 'Choose a new password', url: link },
    notes: [
      'This link can be used once and expires in 1 hour.',
      'If you did not request a password reset, you can ignore this email. Your password will not change.',
    ],
  });
}

export interface PasswordResetLink {
  readonly kind: 'created';
  readonly link: string;
  readonly expiresAt: UnixMs;
}

/** Creates a link that an operator hands to the member, for deployments without email delivery. */
export async function createPasswordResetLink(
  ports: ResetPorts,
  { actor, memberId, dashboardUrl }: { actor: Actor; memberId: string; dashboardUrl: string },
): Promise<PasswordResetLink | AdminRefusal> {
  const member = isIdLike(memberId) ? await ports.members.find(memberId) : undefined;
  if (!member) return notFound('member');
  return createLink(ports, member, actor, 'member.create_password_reset_link', dashboardUrl);
}

async function createLink(
  ports: ResetPorts,
  member: StoredMember,
  actor: Actor,
  action: string,
  dashboardUrl: string,
): Promise<PasswordResetLink> {
  const token = ports.secrets.random();
  const expiresAt = (ports.clock.now() + PASSWORD_RESET_MS) as UnixMs;
  const audit = auditOf({ actor, action, target: member.id, details: { email: member.email } }, ports);
  await ports.passwordResets.insert(ports.secrets.sha256(token), member.id, expiresAt, audit);
  // Browsers do not send the fragment after "#", so servers do not log the token.
  const origin = ports.settings.dashboardOrigin ?? dashboardUrl;
  return { kind: 'created', link: `${origin}/reset-password#${token}`, expiresAt };
}

/** Sets a new password by a single-use link. Ends all sessions of the member; a second factor remains. */
export async function resetPassword(
  ports: ResetPorts & Pick<PeoplePorts, 'leases' | 'feed'>,
  { token, password, ipAddress }: { token: string; password: string; ipAddress: string },
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const tooMany = await throttle(ports, 'link', ports.addressRanges.networkOf(ipAddress));
  if (tooMany) return tooMany;
  const tokenSha256 = ports.secrets.sha256(token);
  const found = await ports.passwordResets.find(tokenSha256);
  if (!found || found.expiresAt <= ports.clock.now()) return refusals.linkNotValid;
  const { member } = found;
  const weak = await checkPassword(ports, password, member.email);
  if (weak) return weak;
  const passwordHash = await ports.passwords.hash(password);
  const audit = auditOf(
    {
      actor: { id: member.id, label: personLabel(member), ipAddress },
      action: 'member.reset_password',
      target: member.id,
      details: { email: member.email },
    },
    ports,
  );
  const ended = await ports.passwordResets.complete(tokenSha256, member.id, passwordHash, audit);
  if (!ended) return refusals.linkNotValid;
  await awaitRevocation(ports, ended, signal);
  return undefined;
}
