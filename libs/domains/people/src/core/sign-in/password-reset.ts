import type { UnixMs } from '@gateway/base';
import { notFound, refusals, type AdminRefusal, auditOf, type Actor, isIdLike } from '@gateway/auth-shared';
import { refuseUnlessPermitted } from '../access/authorize';
import type { PeoplePorts } from '../ports';
import type { Mailer, StoredMember } from '../ports';
import { canonicalEmail, checkPassword } from './member-rules';
import { throttle } from './sign-in-throttle';

const PASSWORD_RESET_MS = 60 * 60_000;

type ResetPorts = Pick<
  PeoplePorts,
  | 'members'
  | 'memberships'
  | 'passwordResets'
  | 'passwords'
  | 'attempts'
  | 'addressRanges'
  | 'secrets'
  | 'mailer'
  | 'log'
  | 'clock'
  | 'newId'
>;

/**
 * Mails a link, if there is such a member. Nobody waits for the mail, so that
 * the time of the answer says no more than its words about who is one.
 */
export async function requestPasswordReset(
  ports: ResetPorts,
  { email: requested, ipAddress, dashboardUrl }: { email: string; ipAddress: string; dashboardUrl: string },
): Promise<AdminRefusal | undefined> {
  if (!ports.mailer) return refusals.mailNotConfigured;
  const email = canonicalEmail(requested) ?? '';
  const tooMany =
    (await throttle(ports, 'link', ports.addressRanges.countedAs(ipAddress))) ??
    (await throttle(ports, 'reset', email));
  if (tooMany) return tooMany;
  const member = email === '' ? undefined : await ports.members.findByEmail(email);
  if (!member) return undefined;
  const actor = { id: member.id, label: email, ipAddress };
  const { link } = await makeLink(ports, member, actor, 'member.request_password_reset', dashboardUrl);
  mailLink(ports, ports.mailer, email, link);
  return undefined;
}

function mailLink({ log }: ResetPorts, mailer: Mailer, to: string, link: string): void {
  const text = `Choose a new password here, within one hour:\n\n${link}\n\nIf you did not ask for it, nothing has to be done.\n`;
  mailer
    .send({ to, subject: 'Choose a new password', text })
    .catch((error: unknown) => log.warn({ err: error }, 'a mail with a link was not sent'));
}

export interface PasswordResetLink {
  readonly kind: 'made';
  readonly link: string;
  readonly expiresAt: UnixMs;
}

/** For where there is no mail: an operator hands the link over. */
export async function makePasswordResetLink(
  ports: ResetPorts,
  { actor, memberId, dashboardUrl }: { actor: Actor; memberId: string; dashboardUrl: string },
): Promise<PasswordResetLink | AdminRefusal> {
  const refusal = await refuseUnlessPermitted(ports, actor, 'platform:people');
  if (refusal) return refusal;
  const member = isIdLike(memberId) ? await ports.members.find(memberId) : undefined;
  if (!member) return notFound('member');
  return makeLink(ports, member, actor, 'member.make_password_reset_link', dashboardUrl);
}

async function makeLink(
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
  // Behind "#", which browsers send to nobody and servers log nowhere.
  return { kind: 'made', link: `${dashboardUrl}/reset-password#${token}`, expiresAt };
}

/** Good once. Ends all sessions of the member; a second factor stays. */
export async function resetPassword(
  ports: ResetPorts,
  { token, password, ipAddress }: { token: string; password: string; ipAddress: string },
): Promise<AdminRefusal | undefined> {
  const tooMany = await throttle(ports, 'link', ports.addressRanges.countedAs(ipAddress));
  if (tooMany) return tooMany;
  const tokenSha256 = ports.secrets.sha256(token);
  const found = await ports.passwordResets.find(tokenSha256);
  if (!found || found.expiresAt <= ports.clock.now()) return refusals.linkNotValid;
  const { member } = found;
  const weak = checkPassword(password, member.email);
  if (weak) return weak;
  const passwordHash = await ports.passwords.hash(password);
  const audit = auditOf(
    {
      actor: { id: member.id, label: member.email, ipAddress },
      action: 'member.reset_password',
      target: member.id,
      details: { email: member.email },
    },
    ports,
  );
  const done = await ports.passwordResets.complete(tokenSha256, member.id, passwordHash, audit);
  return done ? undefined : refusals.linkNotValid;
}
