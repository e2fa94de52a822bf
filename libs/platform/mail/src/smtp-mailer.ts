import type { Transporter } from 'nodemailer';

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Rejects if the server did not accept the email. Has its own timeout. */
  send(mail: Mail): Promise<void>;
}

export interface SmtpSettings {
  /** Such as "smtp://mail.example.com:587" or "smtps://…"; may include user and password. */
  readonly url: string;
  /** The sender, such as "Gateway <gateway@example.com>". */
  readonly from: string;
}

/** Timeout of each step of a delivery. Invitations wait for it. */
const STEP_TIMEOUT_MS = 5_000;

/** Sends plain-text email. Uses STARTTLS if the server offers it; smtps:// requires TLS. */
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
    async send({ to, subject, text }) {
      transport ??= open();
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text });
    },
  };
}
