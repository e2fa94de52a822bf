import type { Transporter } from 'nodemailer';

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Rejects when the mail was not taken; it bounds its own time. */
  send(mail: Mail): Promise<void>;
}

export interface SmtpSettings {
  /** Such as "smtp://mail.example.com:587" or "smtps://…"; may hold user and password. */
  readonly url: string;
  /** Whom mails are from, such as "Gateway <gateway@example.com>". */
  readonly from: string;
}

/** Each step of a delivery; a server that does not answer must not hold up whoever invites. */
const STEP_TIMEOUT_MS = 5_000;

/** Mails as text alone. Where the server offers TLS it is used; smtps:// insists on it. */
export function createSmtpMailer({ url, from }: SmtpSettings): Mailer {
  let transport: Promise<Transporter> | undefined;

  /** Loaded for the first mail: few processes send any. */
  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      url,
      connectionTimeout: STEP_TIMEOUT_MS,
      greetingTimeout: STEP_TIMEOUT_MS,
      socketTimeout: STEP_TIMEOUT_MS,
      dnsTimeout: STEP_TIMEOUT_MS,
      // No content of ours comes from elsewhere, and no mail may read files.
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
