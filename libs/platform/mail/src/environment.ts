import { z } from 'zod';
import type { Mailer } from '@gateway/base';
import { createSmtpMailer } from './smtp-mailer';

/** Settings of each app that sends email. */
export const mailEnvironment = {
  GATEWAY_SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' })
    .optional()
    .describe(
      'Mail server for invitations, password resets, low-balance alerts and operator notifications: `smtps://user:password@mail.example.com:465`, or `smtp://…`, which uses STARTTLS where offered. Without it no mail is sent and links are passed on by hand.',
    ),
  GATEWAY_SMTP_FROM: z
    .string()
    .min(3)
    .max(320)
    .optional()
    .describe(
      'Sender of these mails. Default: `Inference Gateway <gateway@HOST>` with the host of the mail server.',
    ),
};

/** @returns undefined if no SMTP server is configured. */
export function openMailer({
  GATEWAY_SMTP_URL: url,
  GATEWAY_SMTP_FROM: from,
}: z.output<z.ZodObject<typeof mailEnvironment>>): Mailer | undefined {
  if (url === undefined) return undefined;
  return createSmtpMailer({ url, from: from ?? `Inference Gateway <gateway@${new URL(url).hostname}>` });
}
