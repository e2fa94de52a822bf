import { mailTime, mailUsd, type Mailer, type MailContent } from '@gateway/base';
import type { DueAlert, TestAlert } from '../../core/credit-alert';
import { AlertNotDeliveredError, type AlertSender } from '../../core/ports';
import type { AlertPages } from './alert-pages';

/** Sends an alert to its email addresses. Rejects without a mail server. */
export function createMailAlertSender(mailer: Mailer | undefined, pages: AlertPages): AlertSender {
  async function contentOf(alert: DueAlert | TestAlert): Promise<MailContent> {
    const { organizationId } = alert;
    const name = await pages.nameOf(organizationId);
    const link = pages.linkTo(organizationId, '/credit', 'Open the credit of the organization');
    return 'testedAt' in alert
      ? testOf(alert, name, link)
      : { ...lowBalanceOf(alert, name), ...link, notes: [REFUSED, RECIPIENTS] };
  }

  return {
    async send(alert) {
      if (alert.emails.length === 0) return;
      if (!mailer) throw new AlertNotDeliveredError('No mail server is configured, so no email was sent.');
      const content = await contentOf(alert);
      const sent = await Promise.allSettled(alert.emails.map((to) => mailer.send({ to, ...content })));
      const failed = sent.find((one) => one.status === 'rejected');
      if (failed) {
        throw new AlertNotDeliveredError('The mail server did not accept every email.', {
          cause: failed.reason,
        });
      }
    },
  };
}

const REFUSED =
  'Requests are refused with 402 once the credit does not cover them. An operator of the gateway can add credit.';
const RECIPIENTS =
  'Owners, admins and billing of the organization choose who gets this email, on the page Credit.';

function lowBalanceOf(alert: DueAlert, name: string): MailContent {
  const available = mailUsd(alert.availableNanoUsd);
  const threshold = mailUsd(alert.thresholdNanoUsd);
  return {
    subject: `${name} is running low on credit: ${available} left`,
    paragraphs: [
      `${name} has ${available} of credit available, which is below the threshold of ${threshold}.`,
    ],
    facts: [
      ['Available', available],
      ['Threshold', threshold],
      ['Below it since', mailTime(alert.belowSince)],
      ['Organization', `${name} (${alert.organizationId})`],
    ],
  };
}

function testOf(alert: TestAlert, name: string, link: Pick<MailContent, 'link'>): MailContent {
  return {
    subject: `Test of low-balance alerts of ${name}`,
    paragraphs: [`This is a test. Low-balance alerts of ${name} are sent to this address.`],
    facts: [
      ['Sent', mailTime(alert.testedAt)],
      ['Organization', `${name} (${alert.organizationId})`],
    ],
    ...link,
    notes: [RECIPIENTS],
  };
}
