import { refusals, type AdminRefusal } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import type { StoredMember } from '../ports';
import { resetAttempts, throttle } from './sign-in-throttle';

const RECOVERY_CODES = 10;

export type SecondFactorPorts = Pick<
  PeoplePorts,
  'secondFactors' | 'totp' | 'cipher' | 'secrets' | 'attempts' | 'clock'
>;

export function hasSecondFactor({ totp }: Pick<StoredMember, 'totp'>): boolean {
  return totp?.confirmed ?? false;
}

/**
 * Verifies an unused code of the authenticator app, or a recovery code, which
 * it consumes. Undefined: the code is correct, or the member has no second factor.
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
  if (!(await consumeCode(ports, member, code))) return refusals.secondFactorRefused;
  await resetAttempts(ports, 'credential', `code:${member.id}`);
  return undefined;
}

async function consumeCode(ports: SecondFactorPorts, member: StoredMember, code: string): Promise<boolean> {
  const typed = code.replace(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(typed)) return consumeTotp(ports, member, typed);
  return ports.secondFactors.consumeRecoveryCode(member.id, hashOfCode(ports, typed));
}

/** Accepts each code of the app once. */
export async function consumeTotp(
  ports: Pick<SecondFactorPorts, 'secondFactors' | 'totp' | 'cipher' | 'clock'>,
  { id, totp }: StoredMember,
  code: string,
): Promise<boolean> {
  if (!totp || !ports.cipher) return false;
  const secret = ports.cipher.decrypt(totp.encryptedSecret, id);
  const step = ports.totp.stepOf(secret, code, ports.clock.now());
  return step !== undefined && ports.secondFactors.consumeStep(id, step);
}

export interface NewRecoveryCodes {
  /** Shown once. */
  readonly codes: readonly string[];
  readonly hashes: readonly Buffer[];
}

export function createRecoveryCodes(ports: Pick<PeoplePorts, 'secrets'>): NewRecoveryCodes {
  const codes = Array.from({ length: RECOVERY_CODES }, () => ports.secrets.randomCode());
  return { codes, hashes: codes.map((code) => hashOfCode(ports, code.replaceAll('-', ''))) };
}

function hashOfCode({ secrets }: Pick<PeoplePorts, 'secrets'>, code: string): Buffer {
  return secrets.sha256(`recovery code ${code}`);
}
