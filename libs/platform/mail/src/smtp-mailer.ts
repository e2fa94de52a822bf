import { mailText, type Mailer } from '@gateway/base';
import type { Transporter } from 'nodemailer';
import { mailHtml } from './mail-html';

export interface SmtpSettings {
  /** Such as "smtp://mail.example.com:587" or "smtps://…"; may include user and password. */
  readonly url: string;
  /** The sender, such as "Gateway <gateway@example.com>". */
  readonly from: string;
}

/** Timeout of each step of a delivery. Invitations wait for it. */
const STEP_TIMEOUT_MS = 5_000;

/** Sends email as text and HTML. Uses STARTTLS if the server offers it; smtps:// requires TLS. */
export function createSmtpMailer({ url, from }: SmtpSettings): Mailer {
  let transport: Promise<Transporter> | undefined;

  /** Imports nodemailer on first use, since most processes send no email. */
  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      url,
      connectionTimeout: STEP_TIMEOUT_MS,
      greetingTimeout: STEP_TIMEOUT_MS,
      socketTimeout: STEP_TIMEOUT_MS,
      dnsTimeout: STEP_TIMEOUT_MS,
      // Email content must not include files or remote content.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  return {
    async send({ to, ...content }) {
      transport ??= open();
      await (
        await transport
      ).sendMail({
        from,
        to: { name: '', address: to },
        subject: content.subject,
        text: mailText(content),
        html: mailHtml(content),
      });
    },
  };
}
