import { isRefusal } from '@gateway/errors';
import { conflict, refusals, type AdminRefusal, auditOf } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import {
  ownAccount,
  ownAccountByPassword,
  type FromSession,
  type OwnAccountPorts,
  type Self,
} from './own-account';
import { hasSecondFactor, makeRecoveryCodes, refuseSecondFactor, takeTotp } from './second-factor';
import { prepareSession, type OpenedSession } from './sessions';
import { forgiveAttempts, throttle } from './sign-in-throttle';

type TotpPorts = OwnAccountPorts & Pick<PeoplePorts, 'secondFactors' | 'totp' | 'cipher'>;

export interface TotpSecret {
  readonly kind: 'secret';
  readonly base32: string;
  readonly otpauthUri: string;
}

/** Makes a secret, which counts for nothing until a code of it was shown. */
export async function enrolTotp(
  ports: TotpPorts,
  { password, ...from }: FromSession & { readonly password: string },
): Promise<TotpSecret | AdminRefusal> {
  if (!ports.cipher) return refusals.secretsNotConfigured;
  const self = await ownAccountByPassword(ports, from, password);
  if (isRefusal(self)) return self;
  const base32 = ports.totp.generateSecret();
  const enrolled = await ports.secondFactors.enrol(
    self.member.id,
    ports.cipher.seal(base32, self.member.id),
    auditOfSelf(ports, self, 'enrol_totp'),
  );
  if (!enrolled) return conflict('There is a second factor already. Remove it first.');
  return { kind: 'secret', base32, otpauthUri: ports.totp.uri(base32, self.member.email) };
}

export interface ConfirmedTotp extends OpenedSession {
  readonly kind: 'confirmed';
  readonly recoveryCodes: readonly string[];
}

/** Turns it on, and goes on in a new session: the others were opened without it. */
export async function confirmTotp(
  ports: TotpPorts,
  { code, device, ...from }: FromSession & { readonly code: string; readonly device: string },
): Promise<ConfirmedTotp | AdminRefusal> {
  const self = await ownAccount(ports, from);
  if (isRefusal(self)) return self;
  const { member, session } = self;
  if (!member.totp || hasSecondFactor(member)) return conflict('There is nothing to confirm. Begin again.');
  const tooMany = await throttle(ports, 'credential', `code:${member.id}`);
  if (tooMany) return tooMany;
  if (!(await takeTotp(ports, member, code.replace(/\s/g, '')))) return refusals.secondFactorRefused;
  await forgiveAttempts(ports, 'credential', `code:${member.id}`);
  const { codes, hashes } = makeRecoveryCodes(ports);
  const opening = { member, ipAddress: from.ipAddress, device, signedInBy: session.signedInBy };
  const { opened, sessionToken } = prepareSession(ports, opening);
  const audit = auditOfSelf(ports, self, 'confirm_totp');
  await ports.secondFactors.confirm(member.id, hashes, ports.clock.now(), audit, opened);
  return { kind: 'confirmed', recoveryCodes: codes, session: opened.session, sessionToken };
}

interface ByBothFactors extends FromSession {
  readonly password: string;
  readonly code: string;
}

/** @returns the new codes; the old ones are good for nothing. */
export async function renewRecoveryCodes(
  ports: TotpPorts,
  request: ByBothFactors,
): Promise<{ readonly kind: 'renewed'; readonly codes: readonly string[] } | AdminRefusal> {
  const self = await byBothFactors(ports, request);
  if (isRefusal(self)) return self;
  const { codes, hashes } = makeRecoveryCodes(ports);
  const audit = auditOfSelf(ports, self, 'renew_recovery_codes');
  await ports.secondFactors.replaceRecoveryCodes(self.member.id, hashes, audit);
  return { kind: 'renewed', codes };
}

export async function removeTotp(
  ports: TotpPorts,
  request: ByBothFactors,
): Promise<AdminRefusal | undefined> {
  const self = await byBothFactors(ports, request);
  if (isRefusal(self)) return self;
  await ports.secondFactors.remove(self.member.id, auditOfSelf(ports, self, 'remove_totp'));
  return undefined;
}

async function byBothFactors(
  ports: TotpPorts,
  { password, code, ...from }: ByBothFactors,
): Promise<Self | AdminRefusal> {
  const self = await ownAccountByPassword(ports, from, password);
  if (isRefusal(self)) return self;
  if (!hasSecondFactor(self.member)) return conflict('There is no second factor.');
  return (await refuseSecondFactor(ports, self.member, code)) ?? self;
}

function auditOfSelf(ports: TotpPorts, { actor, member }: Self, what: string) {
  return auditOf(
    { actor, action: `member.${what}`, target: member.id, details: { email: member.email } },
    ports,
  );
}
