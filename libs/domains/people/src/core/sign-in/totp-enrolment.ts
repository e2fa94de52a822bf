import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { conflict, refusals, type AdminRefusal, auditOf } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import {
  ownAccount,
  ownAccountByPassword,
  type FromSession,
  type OwnAccountPorts,
  type OwnAccount,
} from './own-account';
import { hasSecondFactor, createRecoveryCodes, refuseSecondFactor, consumeTotp } from './second-factor';
import { awaitRevocation, prepareSession, type OpenedSession } from './sessions';
import { resetAttempts, throttle } from './sign-in-throttle';

type TotpPorts = OwnAccountPorts & Pick<PeoplePorts, 'secondFactors' | 'totp' | 'cipher'>;

export interface TotpSecret {
  readonly kind: 'secret';
  readonly base32: string;
  readonly otpauthUri: string;
}

/** Creates a secret. The second factor is not active until it is confirmed by a code. */
export async function enrolTotp(
  ports: TotpPorts,
  { password, ...from }: FromSession & { readonly password: string },
): Promise<TotpSecret | AdminRefusal> {
  if (!ports.cipher) return refusals.secretsNotConfigured;
  const account = await ownAccountByPassword(ports, from, password);
  if (isRefusal(account)) return account;
  const base32 = ports.totp.generateSecret();
  const enrolled = await ports.secondFactors.enrol(
    account.member.id,
    ports.cipher.encrypt(base32, account.member.id),
    auditOfOwnAccount(ports, account, 'enrol_totp'),
  );
  if (!enrolled) return conflict('Two-factor authentication is already enabled. Remove it first.');
  return { kind: 'secret', base32, otpauthUri: ports.totp.uri(base32, account.member.email) };
}

const NO_ENROLMENT = conflict('There is no enrolment to confirm. Start again.');

export interface ConfirmedTotp extends OpenedSession {
  readonly kind: 'confirmed';
  readonly recoveryCodes: readonly string[];
}

/** Activates the second factor and returns a new session. All others end, as they were opened without it. */
export async function confirmTotp(
  ports: TotpPorts & Pick<PeoplePorts, 'leases' | 'feed'>,
  { code, device, ...from }: FromSession & { readonly code: string; readonly device: string },
  signal: CancelSignal,
): Promise<ConfirmedTotp | AdminRefusal> {
  const account = await ownAccount(ports, from);
  if (isRefusal(account)) return account;
  const { member, session, actor } = account;
  if (!member.totp || hasSecondFactor(member)) return NO_ENROLMENT;
  const tooMany = await throttle(ports, 'credential', `code:${member.id}`);
  if (tooMany) return tooMany;
  if (!(await consumeTotp(ports, member, code.replace(/\s/g, '')))) return refusals.secondFactorRefused;
  await resetAttempts(ports, 'credential', `code:${member.id}`);
  const { codes, hashes } = createRecoveryCodes(ports);
  const opening = { member, ipAddress: actor.ipAddress, device, signedInBy: session.signedInBy };
  const { opened, sessionToken } = prepareSession(ports, opening);
  const audit = auditOfOwnAccount(ports, account, 'confirm_totp');
  const now = ports.clock.now();
  const ended = await ports.secondFactors.confirm(member, session.id, hashes, now, audit, opened);
  if (!ended) return NO_ENROLMENT;
  await awaitRevocation(ports, ended, signal);
  return { kind: 'confirmed', recoveryCodes: codes, session: opened.session, sessionToken };
}

interface BothFactorsInput extends FromSession {
  readonly password: string;
  readonly code: string;
}

/** @returns the new codes; the old ones are no longer valid. */
export async function renewRecoveryCodes(
  ports: TotpPorts,
  request: BothFactorsInput,
): Promise<{ readonly kind: 'renewed'; readonly codes: readonly string[] } | AdminRefusal> {
  const account = await ownAccountByBothFactors(ports, request);
  if (isRefusal(account)) return account;
  const { codes, hashes } = createRecoveryCodes(ports);
  const audit = auditOfOwnAccount(ports, account, 'renew_recovery_codes');
  await ports.secondFactors.replaceRecoveryCodes(account.member.id, hashes, audit);
  return { kind: 'renewed', codes };
}

export async function removeTotp(
  ports: TotpPorts,
  request: BothFactorsInput,
): Promise<AdminRefusal | undefined> {
  const account = await ownAccountByBothFactors(ports, request);
  if (isRefusal(account)) return account;
  await ports.secondFactors.remove(account.member.id, auditOfOwnAccount(ports, account, 'remove_totp'));
  return undefined;
}

async function ownAccountByBothFactors(
  ports: TotpPorts,
  { password, code, ...from }: BothFactorsInput,
): Promise<OwnAccount | AdminRefusal> {
  const account = await ownAccountByPassword(ports, from, password);
  if (isRefusal(account)) return account;
  if (!hasSecondFactor(account.member)) return conflict('Two-factor authentication is not enabled.');
  return (await refuseSecondFactor(ports, account.member, code)) ?? account;
}

function auditOfOwnAccount(ports: TotpPorts, { actor, member }: OwnAccount, action: string) {
  return auditOf(
    { actor, action: `member.${action}`, target: member.id, details: { email: member.email } },
    ports,
  );
}
