import { tooManyEmails, type AdminRefusal } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import { countAttempt } from '../sign-in/sign-in-throttle';

const HOUR_MS = 3_600_000;

/** Emails per hour. Further ones are refused. */
export const MAX_EMAILS = {
  /** That people trigger to one recipient, who may not know the gateway. */
  recipient: 10,
  /** That one person triggers. */
  person: 60,
  /** That the people of one organization trigger. */
  organization: 120,
  /** That anyone requests to reset the password of one address. Separate, so that invitations cannot block resets. */
  reset: 5,
} as const;

export interface TriggeredEmails {
  readonly personId: string;
  readonly organizationId: string;
  /** Email addresses, in any spelling. */
  readonly recipients: readonly string[];
}

/**
 * Counts emails before they are sent, for every email that a signed-in person triggers, also in other domains.
 * The refusal says when to retry.
 */
export async function countEmails(
  { attempts, clock }: Pick<PeoplePorts, 'attempts' | 'clock'>,
  { personId, organizationId, recipients: requested }: TriggeredEmails,
): Promise<AdminRefusal | undefined> {
  const recipients = [...new Set(requested.map((one) => one.trim().toLowerCase()))];
  if (recipients.length === 0) return undefined;
  const senders = {
    [`email-person:${personId}`]: MAX_EMAILS.person,
    [`email-organization:${organizationId}`]: MAX_EMAILS.organization,
  };
  const now = clock.now();
  const retryAfterMs =
    (await countAttempt(attempts, limitsOf('recipient', recipients), now, { windowMs: HOUR_MS })) ??
    (await countAttempt(attempts, senders, now, { windowMs: HOUR_MS, by: recipients.length }));
  return retryAfterMs === undefined ? undefined : tooManyEmails(retryAfterMs);
}

/** Counts a requested password reset, whether the address belongs to a member or not. */
export async function countResetEmail(
  { attempts, clock }: Pick<PeoplePorts, 'attempts' | 'clock'>,
  email: string,
): Promise<AdminRefusal | undefined> {
  const options = { windowMs: HOUR_MS };
  const retryAfterMs = await countAttempt(attempts, limitsOf('reset', [email]), clock.now(), options);
  return retryAfterMs === undefined ? undefined : tooManyEmails(retryAfterMs);
}

function limitsOf(kind: 'recipient' | 'reset', addresses: readonly string[]): Record<string, number> {
  return Object.fromEntries(addresses.map((address) => [`email-${kind}:${address}`, MAX_EMAILS[kind]]));
}
