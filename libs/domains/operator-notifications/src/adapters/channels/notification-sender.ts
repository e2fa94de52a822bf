import { WebhookNotDeliveredError, type WebhookSender } from '@gateway/webhooks';
import { textOf, titleOf, WEBHOOK, webhookMessageOf } from '../../core/notification';
import { NotDeliveredError, type NotificationSender } from '../../core/ports';

/** Sends one email; rejects when the mail server does not accept it. */
export interface NotificationMailer {
  send(mail: { readonly to: string; readonly subject: string; readonly text: string }): Promise<void>;
}

export interface NotificationSenderOptions {
  readonly mailer: NotificationMailer | undefined;
  readonly webhooks: WebhookSender;
  /** The dashboard's origin; undefined: unknown. */
  readonly dashboardUrl: () => string | undefined;
}

/** Sends by email and webhook. */
export function createNotificationSender({
  mailer,
  webhooks,
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
        const subject = `[Inference Gateway] ${titleOf(notification)}`;
        await mailer.send({ to: recipient, subject, text: textOf(notification, url) });
      } catch (error) {
        throw new NotDeliveredError('The mail server did not accept the email.', { cause: error });
      }
    },
  };
}
