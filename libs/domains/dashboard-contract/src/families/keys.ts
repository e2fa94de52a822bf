import { z } from 'zod';
import { created, EDGE_CHANGE_TIMEOUT_MS, endpoint, json, stream } from '../endpoint';
import {
  count,
  emptyBody,
  id,
  page,
  pageQuery,
  positiveUsd,
  searchText,
  time,
  total,
  usd,
  version,
} from '../fields';
import {
  budgetSpend,
  endUserSpendQuery,
  endUserSpends,
  modelSpends,
  otherBudgets,
  otherBudgetsToSet,
  otherSpends,
  windowSpends,
} from './projects';

const keyScopes = ['chat', 'usage:read'] as const;
const keyStates = ['active', 'expired', 'revoked'] as const;
const keyKinds = ['standard', 'playground'] as const;
const scopes = z.array(z.enum(keyScopes));

export const key = z
  .object({
    id,
    organization_id: id,
    kind: z.enum(keyKinds).meta({
      description: 'A playground key belongs to one person’s session and expires within minutes.',
    }),
    name: z.string(),
    last4: z.string(),
    scopes,
    allowed_models: z.array(z.string()).nullable().meta({ description: 'Null: all models.' }),
    ip_allowlist: z.array(z.string()).meta({ description: 'Empty: any address.' }),
    json_streaming: z.boolean().meta({
      description:
        'Whether requests may combine `stream` with a JSON response format; if not, they get `json_mode_no_stream`.',
    }),
    expires_on: z.string().nullable().meta({ description: 'The last day on which the key works, UTC.' }),
    expires_at: time.nullable().meta({ description: 'When a playground key expires.' }),
    requests_per_minute: count,
    tokens_per_minute: count,
    concurrency: count,
    daily_budget_usd: usd.nullable(),
    weekly_budget_usd: usd.nullable(),
    monthly_budget_usd: usd.nullable(),
    total_budget_usd: usd.nullable(),
    budgets: otherBudgets,
    project_id: id.nullable().meta({ description: 'Null: the key belongs to no project.' }),
    created_at: time,
    revoked_at: time.nullable(),
    state: z.enum(keyStates),
    version: version.meta({ description: 'Increases with each change.' }),
    owner: z
      .object({
        id,
        email: z.string(),
        name: z.string().meta({ description: 'Empty: not given.' }),
        has_left: z.boolean().meta({
          description:
            'The owner is no longer a member of the organization, or is disabled. The key still works.',
        }),
      })
      .nullable()
      .meta({ description: 'The person who is responsible for the key; null: an operator of the platform.' }),
    previous_secret: z
      .object({ last4: z.string(), works_until: time })
      .nullable()
      .meta({ description: 'After a rotation, the previous secret of an active key while it still works.' }),
  })
  .meta({ id: 'Key' });

export const keyActivity = z
  .object({
    last_used_at: time
      .nullable()
      .meta({ description: 'When its most recent settled request was admitted; null: never.' }),
    spend_today_usd: usd,
    spend_this_month_usd: usd,
  })
  .meta({ id: 'KeyActivity', description: 'Days and months are UTC.' });

const keyWithActivity = key
  .extend({
    activity: keyActivity.nullable().meta({ description: 'Null when usage is unavailable.' }),
  })
  .meta({ id: 'KeyWithActivity' });

/** The upper bounds of a key's limits, checked when a key is written; null: no bound. */
export const keyBounds = z
  .object({
    requests_per_minute: count,
    tokens_per_minute: count,
    concurrency: count,
    daily_budget_usd: usd.nullable(),
    weekly_budget_usd: usd.nullable(),
    monthly_budget_usd: usd.nullable(),
    total_budget_usd: usd.nullable(),
  })
  .meta({ id: 'KeyBounds', description: "The organization's limits." });

/** Only the shape: auth and the model catalogue validate the values. */
const keyFields = {
  name: z.string(),
  scopes,
  allowed_models: z
    .array(z.string())
    .min(1, { error: 'must name at least one model, or be null for all models' })
    .nullable(),
  ip_allowlist: z.array(z.string()).nullable(),
  json_streaming: z.boolean().meta({
    description:
      'Whether requests may combine `stream` with a JSON response format. New keys: false by default.',
  }),
  expires_on: z.string().nullable(),
  requests_per_minute: count,
  tokens_per_minute: count,
  concurrency: count,
  daily_budget_usd: positiveUsd.nullable(),
  weekly_budget_usd: positiveUsd.nullable(),
  monthly_budget_usd: positiveUsd.nullable(),
  total_budget_usd: positiveUsd.nullable(),
  budgets: otherBudgetsToSet,
  project_id: id.nullable(),
};

const keyChanges = z.strictObject(keyFields).partial();
const newKey = keyChanges.required({ name: true, scopes: true });
const changedKey = keyChanges.extend({ version: version.optional() });

const oneKey = z.object({ key });
const keyAndSecret = z.object({
  key,
  secret: z.string().meta({ description: 'The full key, returned only here.' }),
  bounds: keyBounds,
});

export const keyQuery = pageQuery.extend({
  kind: z
    .enum([...keyKinds, 'all'])
    .default('standard')
    .meta({ description: 'Playground keys are listed only on request.' }),
  search: searchText('name, the id or the last four characters'),
  state: z.enum(keyStates).optional(),
  ids: z
    .string()
    .regex(/^[\w-]+(,[\w-]+){0,99}$/, { error: 'must be 1 to 100 ids, separated by commas' })
    .optional()
    .meta({ description: 'Only these keys: at most 100 ids, separated by commas.' }),
  owner: z.enum(['me', 'left']).optional().meta({
    description: 'Only your own keys, or only keys whose owner has left.',
  }),
  project_id: id.optional().meta({ description: 'Only keys of this project.' }),
});

export const keyEndpoints = {
  list: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/keys',
    access: 'keys:read',
    summary: 'List or search the keys of an organization, including revoked keys',
    query: keyQuery,
    response: json(page(keyWithActivity).extend({ bounds: keyBounds, total })),
    compressed: true,
  }),
  csv: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/keys.csv',
    access: 'keys:read',
    summary: 'Download keys with their limits and spend as CSV; never a secret',
    query: keyQuery.omit({ page_size: true, page_token: true }),
    response: stream('text/csv'),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys',
    owner: 'auth',
    access: 'keys:manage_own',
    summary: 'Create a key, which you own',
    description: 'The key works immediately. Its secret is returned only here.',
    body: newKey,
    response: created(keyAndSecret),
    audit: ['key.create'],
    errors: ['conflict'],
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/keys/{key_id}',
    access: 'keys:read',
    summary: 'Get a key',
    response: json(z.object({ key: keyWithActivity, bounds: keyBounds })),
  }),
  budgetSpend: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/keys/{key_id}/budget-spend',
    owner: 'billing-ledger',
    access: 'keys:read',
    summary: 'Get what counts against the budgets of a key',
    description: 'Zero for a key that does not exist.',
    query: otherSpends,
    response: json(z.object({ spend: budgetSpend, windows: windowSpends, models: modelSpends })),
  }),
  endUserSpend: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/keys/{key_id}/end-user-spend',
    owner: 'billing-ledger',
    access: 'usage:read',
    summary: 'List the end users of a key that are closest to their budget',
    description:
      'What counts against the budget that each end user has in this period, the most first. Empty for a key without such a budget.',
    query: endUserSpendQuery,
    response: json(z.object({ data: endUserSpends })),
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/organizations/{organization_id}/keys/{key_id}',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'keys:manage_own',
    summary: 'Update a key',
    description:
      'Absent fields keep their value; `null` removes a restriction. After a move to another `project_id`, requests that are admitted from then on count against its budgets. With `version`, the response is 409 `version_conflict` if the key has changed since; `metadata.current` is the current key.',
    body: changedKey,
    response: json(oneKey),
    audit: ['key.update'],
    errors: ['conflict', 'version_conflict'],
  }),
  revoke: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys/{key_id}/revoke',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'keys:manage_own',
    summary: 'Revoke a key permanently',
    description:
      'Idempotent. After the response, no process accepts any secret of the key. Requests in progress finish.',
    body: emptyBody,
    response: json(oneKey),
    audit: ['key.revoke'],
  }),
  transfer: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys/{key_id}/transfer',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'keys:manage',
    summary: 'Make another member the owner of a key',
    description: 'The secret, settings and counters stay. The new owner’s role must allow to own keys.',
    body: z.strictObject({ member_id: id }),
    response: json(oneKey),
    audit: ['key.transfer'],
    errors: ['conflict'],
  }),
  rotate: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys/{key_id}/rotate',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'keys:manage_own',
    summary: 'Rotate a key’s secret',
    description:
      'The key keeps its id, settings and counters. The previous secret works until `previous_works_until`, at most 90 days from now; with null it stops working before the response. A key has at most two secrets: while one from an earlier rotation works, `ends_now` must name the one that stops working immediately, else the response is 409 `conflict`.',
    body: z.strictObject({
      previous_works_until: time.nullable(),
      ends_now: z.enum(['previous', 'current']).optional().meta({
        description: 'Use `current` after a lost response, so that the secret in use keeps working.',
      }),
    }),
    response: created(keyAndSecret),
    audit: ['key.rotate'],
    errors: ['conflict'],
  }),
  endPreviousSecret: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/keys/{key_id}/end-previous-secret',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'keys:manage_own',
    summary: 'Revoke the previous secret of a rotated key',
    description: 'Idempotent. After the response, no process accepts that secret.',
    body: emptyBody,
    response: json(oneKey),
    audit: ['key.end_previous_secret'],
    errors: ['conflict'],
  }),
} as const;
