import type { PeoplePorts } from '../ports';

const NOTICES = {
  second_factor_reset: 'An operator removed your two-factor authentication, because it was reported as lost.',
  disabled: 'An operator disabled your account. You can no longer sign in.',
  enabled: 'An operator enabled your account. You can sign in again.',
  sessions_ended: 'An operator signed you out on all devices.',
} as const;

export type Notice = keyof typeof NOTICES;

/** Notifies a person by email, after the response, what an operator changed. Without email delivery there is none. */
export function notifyPerson(
  { mailer, background }: Pick<PeoplePorts, 'mailer' | 'background'>,
  to: string,
  notice: Notice,
): void {
  if (!mailer) return;
  background.start('send a notice about an account', () =>
    mailer.send({
      to,
      subject: 'Your Inference Gateway account was changed',
      paragraphs: [NOTICES[notice]],
      notes: ['If you did not expect this, contact the operator of your Inference Gateway.'],
    }),
  );
}
