import { z } from 'zod';
import { created, endpoint, json } from '../endpoint';
import { count, emptyBody, id, page, pageQuery, positiveUsd, time, usd, version } from '../fields';

const keyScopes = ['chat', 'usage:read'] as const;
const keyKinds = ['standard', 'playground'] as const;
const scopes = z.array(z.enum(keyScopes));

const key = z
  .object({
    id,
    organization_id: id,
    kind: z.enum(keyKinds).meta({
      description: 'a playground key is made by that page for one person, and ends within minutes by itself',
    }),
    name: z.string(),
    last4: z.string(),
    scopes,
    allowed_models: z.array(z.string()).meta({ description: 'empty allows every model' }),
    ip_allowlist: z.array(z.string()).meta({ description: 'empty allows every address' }),
    expires_on: z.string().nullable().meta({ description: 'a day; it works until the end of that day, UTC' }),
    expires_at: time
      .nullable()
      .meta({ description: 'of a key that lives for minutes: from this moment on it is expired' }),
    requests_per_minute: count,
    tokens_per_minute: count,
    concurrency: count,
    daily_budget_usd: usd.nullable(),
    created_at: time,
    revoked_at: time.nullable(),
    state: z.enum(['active', 'expired', 'revoked']),
    version: version.meta({ description: 'grows with each change' }),
    previous_secret: z
      .object({ last4: z.string(), works_until: time })
      .nullable()
      .meta({ description: 'after a rotation, what was before and still works' }),
  })
  .meta({ id: 'Key' });

const keyActivity = z
  .object({
    last_used_at: time
      .nullable()
      .meta({ description: 'when the last of its requests was admitted that is settled; null: never' }),
    spend_today_usd: usd,
    spend_this_month_usd: usd,
  })
  .meta({ id: 'KeyActivity', description: 'Days and months are those of UTC.' });

const keyWithActivity = key
  .extend({
    activity: keyActivity.nullable().meta({ description: 'null when the figures cannot be had right now' }),
  })
  .meta({ id: 'KeyWithActivity' });

/** The caps of a key are at or below these when they are written; null: no bound. */
const keyBounds = z
  .object({
    requests_per_minute: count,
    tokens_per_minute: count,
    concurrency: count,
    daily_budget_usd: usd.nullable(),
  })
  .meta({ id: 'KeyBounds', description: "the organization's own limits" });

/** As they are written; which of them are allowed is for auth and the catalogue to say. */
const keyFields = {
  name: z.string(),
  scopes,
  allowed_models: z.array(z.string()).nullable(),
  ip_allowlist: z.array(z.string()).nullable(),
  expires_on: z.string().nullable(),
  requests_per_minute: count,
  tokens_per_minute: count,
  concurrency: count,
  daily_budget_usd: positiveUsd.nullable(),
};

const keyChanges = z.strictObject(keyFields).partial();
const newKey = keyChanges.required({ name: true, scopes: true });
const changedKey = keyChanges.extend({ version: version.optional() });

const oneKey = z.object({ key });
const keyAndSecret = z.object({
  key,
  secret: z.string().meta({ description: 'the full key, in this one answer and nowhere else' }),
  bounds: keyBounds,
});

export const keyEndpoints = {
  list: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/keys',
    who: 'keys:read',
    summary: 'The keys of an organization, revoked ones included',
    query: pageQuery.extend({
      kind: z
        .enum([...keyKinds, 'all'])
        .default('standard')
        .meta({ description: 'those of the playground only when they are asked for' }),
    }),
    answer: json(page(keyWithActivity).extend({ bounds: keyBounds })),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys',
    who: 'keys:manage',
    summary: 'Create a key',
    description: 'It works as soon as it is answered. Its secret is in this one answer and nowhere else.',
    body: newKey,
    answer: created(keyAndSecret),
    audit: ['key.create'],
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/keys/{key_id}',
    who: 'keys:read',
    summary: 'One key',
    answer: json(z.object({ key: keyWithActivity, bounds: keyBounds })),
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/organizations/{organization_id}/keys/{key_id}',
    who: 'keys:manage',
    summary: 'Change a key',
    description:
      'Absent fields stay, `null` takes a restriction away. With `version` only if the key is still at it; else 409 `version_conflict`, with the key of now in `metadata.current`.',
    body: changedKey,
    answer: json(oneKey),
    audit: ['key.update'],
    errors: ['conflict', 'version_conflict'],
  }),
  revoke: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys/{key_id}/revoke',
    who: 'keys:manage',
    summary: 'Revoke a key, for good',
    description:
      'Idempotent. When it has answered, no process accepts the key any more, whichever of its secrets is used; requests that already run finish.',
    body: emptyBody,
    answer: json(oneKey),
    audit: ['key.revoke'],
  }),
  rotate: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys/{key_id}/rotate',
    who: 'keys:manage',
    summary: 'Give a key a new secret',
    description:
      'The key keeps its id, settings and counters. The secret of before works until `previous_works_until`, at most 90 days from now; with null it is dead when this has answered. A key has two secrets at most: while one from an earlier rotation works, `ends_now` has to say which of the two ends at once, else it is 409 `conflict`.',
    body: z.strictObject({
      previous_works_until: time.nullable(),
      ends_now: z
        .enum(['previous', 'current'])
        .optional()
        .meta({ description: 'current: also after an answer that was lost, so that the one in use goes on' }),
    }),
    answer: created(keyAndSecret),
    audit: ['key.rotate'],
    errors: ['conflict'],
  }),
  endPreviousSecret: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys/{key_id}/end-previous-secret',
    who: 'keys:manage',
    summary: 'End the secret of before a rotation now',
    description: 'Idempotent. When it has answered, no process accepts that secret any more.',
    body: emptyBody,
    answer: json(oneKey),
    audit: ['key.end_previous_secret'],
    errors: ['conflict'],
  }),
} as const;
