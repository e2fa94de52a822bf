import { personLabel } from '@gateway/base';
import { auditOf } from '@gateway/auth-shared';
import type { Member } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import type { PersonRefusalReason } from '../single-sign-on/sign-on-refusal';
import { ATTEMPT_WINDOW_MS, countAttempt } from './sign-in-throttle';

/** Entries of refused sign-ins per window, by all clients. Further ones are counted in the metric only. */
export const MAX_AUDITED_REFUSALS = 1_000;

export interface RefusedSignIn {
  /** Undefined: no account is known. An email is not stored, since people type passwords into its field. */
  readonly member: Member | undefined;
  readonly ipAddress: string;
  readonly reason:
    | 'wrong_password'
    | 'wrong_code'
    | 'account_disabled'
    | 'too_many_attempts'
    | 'unknown_management_tokens'
    | PersonRefusalReason;
}

/** Writes an entry for a refused sign-in. The throttle bounds those of one client, this those of many. */
export async function auditRefusedSignIn(
  ports: Pick<PeoplePorts, 'auditLog' | 'attempts' | 'clock' | 'newId'>,
  { member, ipAddress, reason }: RefusedSignIn,
): Promise<void> {
  const limits = { 'audited-refusals': MAX_AUDITED_REFUSALS };
  const tooMany = await countAttempt(ports.attempts, limits, ports.clock.now(), {
    windowMs: ATTEMPT_WINDOW_MS,
  });
  if (tooMany !== undefined) return;
  const actor = { id: member?.id ?? 'unknown', label: member ? personLabel(member) : 'unknown', ipAddress };
  const change = { actor, action: 'session.refuse', target: actor.id, details: { reason } };
  await ports.auditLog.insert(auditOf(change, ports));
}
