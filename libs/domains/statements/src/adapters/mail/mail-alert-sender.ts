import { formatUsd } from '@gateway/base';
import type { DueAlert, TestAlert } from '../../core/credit-alert';
import { AlertNotDeliveredError, type AlertSender } from '../../core/ports';

/** Sends one email; rejects when the mail server does not accept it. */
export interface AlertMailer {
  send(mail: { readonly to: string; readonly subject: string; readonly text: string }): Promise<void>;
}

/** Sends an alert to its email addresses. Rejects without a mail server. */
export function createMailAlertSender(mailer: AlertMailer | undefined): AlertSender {
  return {
    async send(alert) {
      if (alert.emails.length === 0) return;
      if (!mailer) throw new AlertNotDeliveredError('No mail server is configured, so no email was sent.');
      const text = 'testedAt' in alert ? testOf(alert) : textOf(alert);
      const sent = await Promise.allSettled(alert.emails.map((to) => mailer.send({ to, ...text })));
      const failed = sent.find((one) => one.status === 'rejected');
      if (failed) {
        throw new AlertNotDeliveredError('The mail server did not accept every email.', {
          cause: failed.reason,
        });
      }
    },
  };
}

function textOf({ organizationId, availableNanoUsd, thresholdNanoUsd, belowSince }: DueAlert) {
  return {
    subject: 'Credit is running low',
    text: [
      `Organization ${organizationId} has ${formatUsd(availableNanoUsd)} US dollars of credit available,`,
      `which is below the alert threshold of ${formatUsd(thresholdNanoUsd)} US dollars.`,
      '',
      `Since: ${new Date(belowSince).toISOString()}`,
      'Requests are refused with 402 once the credit does not cover them.',
      '',
    ].join('\n'),
  };
}

function testOf({ organizationId, testedAt }: TestAlert) {
  return {
    subject: 'Test of low-balance alerts',
    text: [
      `This is a test. Low-balance alerts of organization ${organizationId} are sent to this address.`,
      '',
      `Sent: ${new Date(testedAt).toISOString()}`,
      '',
    ].join('\n'),
  };
}
