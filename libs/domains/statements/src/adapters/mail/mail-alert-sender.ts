import { mailTime, mailUsd, type Mailer, type MailContent } from '@gateway/base';
import type { DueAlert, TestAlert } from '../../core/credit-alert';
import { AlertNotDeliveredError, type AlertSender } from '../../core/ports';
import type { AlertPages } from './alert-pages';

/** Sends an alert to its email addresses. Rejects without a mail server. */
export function createMailAlertSender(mailer: Mailer | undefined, pages: AlertPages): AlertSender {
  /** The content of the email to a person in a time zone. */
  async function contentsOf(alert: DueAlert | TestAlert) {
    const { organizationId } = alert;
    const name = await pages.nameOf(organizationId);
    const link = pages.linkTo(organizationId, '/credit', 'Open the credit of the organization');
    return (timeZone: string | undefined): MailContent =>
      'testedAt' in alert
        ? testOf(alert, name, link, timeZone)
        : { ...lowBalanceOf(alert, name, timeZone), ...link, notes: [REFUSED, RECIPIENTS] };
  }

  return {
    async send(alert) {
      if (alert.emails.length === 0) return;
      if (!mailer) throw new AlertNotDeliveredError('No mail server is configured, so no email was sent.');
      const [contentIn, zones] = await Promise.all([contentsOf(alert), pages.timeZonesOf(alert.emails)]);
      const sent = await Promise.allSettled(
        alert.emails.map((to) => mailer.send({ to, ...contentIn(zones[to]) })),
      );
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

function lowBalanceOf(alert: DueAlert, name: string, timeZone: string | undefined): MailContent {
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
      ['Below it since', mailTime(alert.belowSince, timeZone)],
      ['Organization', `${name} (${alert.organizationId})`],
    ],
  };
}

function testOf(
  alert: TestAlert,
  name: string,
  link: Pick<MailContent, 'link'>,
  timeZone: string | undefined,
): MailContent {
  return {
    subject: `Test of low-balance alerts of ${name}`,
    paragraphs: [`This is a test. Low-balance alerts of ${name} are sent to this address.`],
    facts: [
      ['Sent', mailTime(alert.testedAt, timeZone)],
      ['Organization', `${name} (${alert.organizationId})`],
    ],
    ...link,
    notes: [RECIPIENTS],
  };
}
