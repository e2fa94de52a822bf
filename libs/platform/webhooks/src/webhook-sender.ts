import { createHmac } from 'node:crypto';
import type { Clock } from '@gateway/base';
import { Agent, request } from 'undici';
import { isPrivateLiteral, PrivateAddressError, publicLookup } from './public-addresses';

export interface WebhookSenderOptions {
  readonly clock: Clock;
  /** Whether webhooks may use private networks and plain http. Default false. */
  readonly allowPrivateAddresses?: boolean;
}

const TIMEOUT_MS = 10_000;
/** Responses are discarded up to this size. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Why a webhook URL is refused; undefined if it is accepted. Host names are checked again when connecting. */
export function webhookUrlIssue(text: string, allowPrivateAddresses: boolean): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://hooks.example.com/gateway';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivateAddresses && url.protocol === 'http:'))
    return 'must be an https:// URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or password';
  if (!allowPrivateAddresses && isPrivateLiteral(url.hostname))
    return 'must not be a private or local address';
  return undefined;
}

/** The message of the error is safe to show to people: it reveals nothing about networks. */
export class WebhookNotDeliveredError extends Error {
  override readonly name = 'WebhookNotDeliveredError';
}

export interface Webhook {
  readonly url: string;
  /** Signs the messages. */
  readonly secret: string;
}

export interface WebhookSender {
  /** Posts one message as JSON. Rejects with a WebhookNotDeliveredError. */
  send(webhook: Webhook, message: object): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/**
 * Posts messages as JSON. `x-gateway-signature` is `t=<seconds>,v1=<hex>`: the
 * HMAC-SHA256, with the webhook's secret, of the seconds, a dot and the body.
 * Redirects are not followed, and response bodies are never shown.
 */
export function createWebhookSender({
  clock,
  allowPrivateAddresses = false,
}: WebhookSenderOptions): WebhookSender {
  const agent = new Agent({
    connect: { timeout: TIMEOUT_MS, ...(allowPrivateAddresses ? {} : { lookup: publicLookup }) },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
  let closing: Promise<void> | undefined;
  return {
    async send({ url, secret }, message) {
      const issue = webhookUrlIssue(url, allowPrivateAddresses);
      if (issue) throw new WebhookNotDeliveredError(`The address ${issue}.`);
      const body = JSON.stringify(message);
      const seconds = Math.floor(clock.now() / 1_000);
      const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
      const status = await post(agent, url, body, `t=${seconds},v1=${signature}`);
      if (status < 200 || status >= 300)
        throw new WebhookNotDeliveredError(`The webhook returned status ${status}.`);
    },
    // An agent refuses a second close, and a process stops its modules twice.
    close: () => (closing ??= agent.close()),
  };
}

async function post(agent: Agent, url: string, body: string, signature: string): Promise<number> {
  try {
    const response = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'inference-gateway',
        'x-gateway-signature': signature,
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body.dump({ limit: MAX_RESPONSE_BYTES }).catch(() => undefined);
    return response.statusCode;
  } catch (error) {
    const isPrivate =
      error instanceof PrivateAddressError || (error as Error).cause instanceof PrivateAddressError;
    throw new WebhookNotDeliveredError(
      isPrivate ? 'The address is in a private network.' : 'The webhook could not be reached.',
      { cause: error },
    );
  }
}
