import { z } from 'zod';
import { endpoint, json } from '../endpoint';
import { emptyBody, time } from '../fields';

const settings = z
  .object({
    email_enabled: z.boolean().meta({ description: 'Whether operators get emails.' }),
    extra_emails: z.array(z.string()).meta({ description: 'Further addresses.' }),
    webhook_host: z.string().nullable().meta({
      description: 'The host of the webhook; null without one. Its URL is not shown again.',
    }),
  })
  .meta({ id: 'NotificationSettings' });

const incident = z
  .object({
    cause: z.string().meta({ description: 'Such as `upstream_config_error`.' }),
    subject: z.string().meta({ description: 'What failed, such as a target.' }),
    details: z.string(),
    since: time,
    last_reported_at: time,
    notified_at: time.nullable().meta({ description: 'Null: operators have not been notified yet.' }),
  })
  .meta({ id: 'Incident', description: 'A failure that is reported, or was until minutes ago.' });

const notification = z
  .object({
    id: z.string(),
    created_at: time,
    kind: z.enum(['opened', 'reminder', 'recovered', 'test']),
    cause: z.string().nullable().meta({ description: 'Null for a test.' }),
    title: z.string(),
    subjects: z.array(z.string()),
    deliveries: z.array(
      z.object({
        recipient: z.string().meta({ description: 'An email address, or `webhook`.' }),
        delivered_at: time.nullable().meta({ description: 'Null: not yet, or not at all.' }),
        failure: z.string().nullable().meta({ description: 'Why the last attempt failed.' }),
      }),
    ),
  })
  .meta({ id: 'OperatorNotification' });

export const notificationEndpoints = {
  get: endpoint({
    method: 'GET',
    path: '/api/operator/notifications',
    owner: 'auth',
    access: 'platform:notifications',
    summary: 'Get incidents, notifications and their settings',
    response: json(
      z.object({
        settings,
        sends_mail: z.boolean().meta({ description: 'Whether a mail server is configured.' }),
        operator_emails: z.array(z.string()).meta({ description: 'The operators, who get the emails.' }),
        incidents: z.array(incident),
        notifications: z.array(notification).meta({ description: 'The latest 50, newest first.' }),
      }),
    ),
  }),
  set: endpoint({
    method: 'PUT',
    path: '/api/operator/notifications/settings',
    owner: 'auth',
    access: 'platform:notifications',
    summary: 'Set who is notified of incidents',
    description:
      'Absent fields keep their value; null removes one. Webhooks are signed as low-balance alerts are, with a secret that is returned once, when the URL is set. Private and local addresses are refused unless the gateway is configured to allow them.',
    body: z.strictObject({
      email_enabled: z.boolean().optional(),
      extra_emails: z.array(z.string().trim().max(320)).max(20).nullish(),
      webhook_url: z.string().max(2_000).nullish().meta({ description: 'Null or empty: no webhook.' }),
    }),
    response: json(z.object({ settings, webhook_secret: z.string().nullable() })),
    audit: ['operator_notifications.set'],
  }),
  test: endpoint({
    method: 'POST',
    path: '/api/operator/notifications/test',
    owner: 'auth',
    access: 'platform:notifications',
    summary: 'Send a test notification',
    description: 'Sent to every recipient within seconds. The result is in the list of notifications.',
    body: emptyBody,
    response: json(z.object({ recipients: z.int().min(1) })),
    audit: ['operator_notifications.test'],
    errors: ['conflict'],
  }),
} as const;
