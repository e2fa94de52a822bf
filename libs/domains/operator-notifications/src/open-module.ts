import type { Clock, Mailer } from '@gateway/base';
import { newId, type Logger } from '@gateway/runtime';
import { createSecretCipher } from '@gateway/secrets';
import { createWebhookSender, webhookUrlIssue, type webhookEnvironment } from '@gateway/webhooks';
import type { Pool } from 'pg';
import type { z } from 'zod';
import { createNotificationSender } from './adapters/channels/notification-sender';
import { createMemoryIncidentStore } from './adapters/memory/incident-store';
import { createPostgresIncidentStore } from './adapters/postgres/incident-store';
import { createNotificationAdminStore } from './adapters/postgres/notification-admin-store';
import { DEFAULT_TIMING, type NotificationTiming } from './core/incident-rule';
import { createOperatorNotificationsModule, type OperatorNotificationsModule } from './service/module';

const DEFAULT_INTERVAL_MS = 5_000;

export interface OpenOperatorNotificationsOptions {
  readonly config: z.output<z.ZodObject<typeof webhookEnvironment>>;
  /** A pool of the migrated schema `auth`. */
  readonly pool: Pool;
  /** Absent: no email is sent. */
  readonly mailer: Mailer | undefined;
  /** The first key encrypts, all decrypt. Absent: no webhook can be configured. */
  readonly encryptionKeys: readonly string[] | undefined;
  /** The IANA time zones of people by email. */
  readonly timeZones: (emails: readonly string[]) => Promise<Readonly<Record<string, string>>>;
  /** The dashboard's origin, for links. */
  readonly dashboardUrl: () => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Shorter in tests. */
  readonly timing?: (Partial<NotificationTiming> & { readonly intervalMs?: number }) | undefined;
}

/** Creates the module with its adapters. */
export function openOperatorNotificationsModule(
  options: OpenOperatorNotificationsOptions,
): OperatorNotificationsModule {
  const { config, pool, mailer, encryptionKeys, timeZones, dashboardUrl, clock, log } = options;
  const { intervalMs = DEFAULT_INTERVAL_MS, ...changedTiming } = options.timing ?? {};
  const timing = { ...DEFAULT_TIMING, ...changedTiming };
  const allowPrivateAddresses = config.GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES;
  const webhooks = createWebhookSender({ clock, allowPrivateAddresses });
  const newNotificationId = () => newId('ntf');
  const cipher = encryptionKeys && createSecretCipher(encryptionKeys);
  return createOperatorNotificationsModule({
    stored: createPostgresIncidentStore({ pool, timing, newId: newNotificationId }),
    memory: createMemoryIncidentStore({ clock, timing, newId: newNotificationId }),
    admin: createNotificationAdminStore({ pool, cipher, log, currentMs: timing.currentMs }),
    sender: createNotificationSender({ mailer, webhooks, timeZones, dashboardUrl }),
    sendsMail: mailer !== undefined,
    storesSecrets: cipher !== undefined,
    webhookUrlIssue: (url) => webhookUrlIssue(url, allowPrivateAddresses),
    newId,
    clock,
    log,
    intervalMs,
    close: () => webhooks.close(),
  });
}
