import type { Mailer } from '@gateway/base';
import { WebhookNotDeliveredError, type WebhookSender } from '@gateway/webhooks';
import { mailOf, WEBHOOK, webhookMessageOf } from '../../core/notification';
import { NotDeliveredError, type NotificationSender } from '../../core/ports';

export interface NotificationSenderOptions {
  readonly mailer: Mailer | undefined;
  readonly webhooks: WebhookSender;
  /** The IANA time zones of people by email. */
  readonly timeZones: (emails: readonly string[]) => Promise<Readonly<Record<string, string>>>;
  /** The dashboard's origin; undefined: unknown. */
  readonly dashboardUrl: () => string | undefined;
}

/** Sends by email and webhook. */
export function createNotificationSender({
  mailer,
  webhooks,
  timeZones,
  dashboardUrl,
}: NotificationSenderOptions): NotificationSender {
  return {
    async send(notification, recipient, settings) {
      const url = dashboardUrl();
      if (recipient === WEBHOOK) {
        const { webhook } = settings;
        if (!webhook) throw new NotDeliveredError('The webhook was removed.');
        try {
          await webhooks.send(webhook, webhookMessageOf(notification, url));
        } catch (error) {
          throw new NotDeliveredError(
            error instanceof WebhookNotDeliveredError ? error.message : 'The webhook could not be sent.',
            { cause: error },
          );
        }
        return;
      }
      if (!mailer) throw new NotDeliveredError('No mail server is configured.');
      try {
        // During an incident, the database may be unavailable.
        const { [recipient]: timeZone } = await timeZones([recipient]).catch(
          () => ({}) as Record<string, string>,
        );
        await mailer.send({ to: recipient, ...mailOf(notification, url, timeZone) });
      } catch (error) {
        throw new NotDeliveredError('The mail server did not accept the email.', { cause: error });
      }
    },
  };
}
