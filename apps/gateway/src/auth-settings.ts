import type { AuthAdapterOptions } from '@gateway/auth';
import type { Config } from './config';

/** The mail server, when there is one. */
export function smtpOf({
  GATEWAY_SMTP_URL: url,
  GATEWAY_SMTP_FROM: from,
}: Config): Pick<AuthAdapterOptions, 'smtp'> {
  if (url === undefined) return {};
  return { smtp: { url, from: from ?? `Inference Gateway <gateway@${new URL(url).hostname}>` } };
}
