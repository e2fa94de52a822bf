import { refusals, type AdminRefusal } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import type { StoredMember } from '../ports';
import { forgiveAttempts, throttle } from './sign-in-throttle';

const RECOVERY_CODES = 10;

export type SecondFactorPorts = Pick<
  PeoplePorts,
  'secondFactors' | 'totp' | 'cipher' | 'secrets' | 'attempts' | 'clock'
>;

export function hasSecondFactor({ totp }: Pick<StoredMember, 'totp'>): boolean {
  return totp?.confirmed ?? false;
}

/**
 * Whether the code is right: of the authenticator app and not taken before, or
 * a recovery code, which is used up. Undefined: it is, or none is needed.
 */
export async function refuseSecondFactor(
  ports: SecondFactorPorts,
  member: StoredMember,
  code: string | undefined,
): Promise<AdminRefusal | undefined> {
  if (!hasSecondFactor(member)) return undefined;
  if (code === undefined || code.trim() === '') return refusals.secondFactorRequired;
  const tooMany = await throttle(ports, 'credential', `code:${member.id}`);
  if (tooMany) return tooMany;
  if (!(await takeCode(ports, member, code))) return refusals.secondFactorRefused;
  await forgiveAttempts(ports, 'credential', `code:${member.id}`);
  return undefined;
}

async function takeCode(ports: SecondFactorPorts, member: StoredMember, code: string): Promise<boolean> {
  const typed = code.replace(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(typed)) return takeTotp(ports, member, typed);
  return ports.secondFactors.takeRecoveryCode(member.id, hashOfCode(ports, typed));
}

/** Takes a code of the app, each once. */
export async function takeTotp(
  ports: Pick<SecondFactorPorts, 'secondFactors' | 'totp' | 'cipher' | 'clock'>,
  { id, totp }: StoredMember,
  code: string,
): Promise<boolean> {
  if (!totp) return false;
  // Without a key only what was stored plain can be read.
  const secret = ports.cipher ? ports.cipher.open(totp.encryptedSecret, id) : totp.encryptedSecret;
  const step = ports.totp.stepOf(secret, code, ports.clock.now());
  return step !== undefined && ports.secondFactors.takeStep(id, step);
}

export interface NewRecoveryCodes {
  /** Shown once. */
  readonly codes: readonly string[];
  readonly hashes: readonly Buffer[];
}

export function makeRecoveryCodes(ports: Pick<PeoplePorts, 'secrets'>): NewRecoveryCodes {
  const codes = Array.from({ length: RECOVERY_CODES }, () => ports.secrets.randomCode());
  return { codes, hashes: codes.map((code) => hashOfCode(ports, code.replaceAll('-', ''))) };
}

function hashOfCode({ secrets }: Pick<PeoplePorts, 'secrets'>, code: string): Buffer {
  return secrets.sha256(`recovery code ${code}`);
}
