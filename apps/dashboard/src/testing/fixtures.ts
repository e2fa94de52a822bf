import type { Result } from '@gateway/dashboard-contract/client';

type Session = Result<'GET /api/session'>;
type Key = Result<'GET /api/organizations/{organization_id}/keys'>['data'][number];
type Project = Result<'GET /api/organizations/{organization_id}/projects'>['data'][number];
type Organization = Result<'GET /api/organizations/{organization_id}'>['organization'];

/** Valid API responses for tests. */

export const ORGANIZATION: Organization = {
  id: 'org-1',
  name: 'Acme',
  suspended: false,
  suspended_reason: null,
  limits: {
    requests_per_minute: 600,
    tokens_per_minute: 1_000_000,
    daily_budget_usd: '25',
    weekly_budget_usd: null,
    monthly_budget_usd: '500',
    total_budget_usd: null,
    concurrency: 64,
    max_output_tokens: 32_768,
    multiple_completions: false,
    budgets: [],
  },
  ceilings: {
    requests_per_minute: null,
    tokens_per_minute: null,
    daily_budget_usd: null,
    weekly_budget_usd: null,
    monthly_budget_usd: null,
    total_budget_usd: null,
    concurrency: null,
    max_output_tokens: null,
    multiple_completions: false,
  },
  created_at: '2026-11-01T09:00:00.000Z',
  version: 3,
  requires_second_factor: false,
  target_rules: { allowed_providers: [], denied_providers: [], allowed_regions: [], denied_regions: [] },
  elastic_holds: false,
  usage_tags: [],
};

export const BOUNDS = {
  requests_per_minute: 600,
  tokens_per_minute: 1_000_000,
  concurrency: 64,
  daily_budget_usd: '25',
  weekly_budget_usd: null,
  monthly_budget_usd: '500',
  total_budget_usd: null,
};

const MEMBER_PERMISSIONS = ['organization:read', 'members:read', 'keys:read', 'usage:read', 'credit:read'];

const DEVELOPER_PERMISSIONS = [...MEMBER_PERMISSIONS, 'keys:manage_own', 'playground:use'];
const ADMIN_PERMISSIONS = [
  ...DEVELOPER_PERMISSIONS,
  'keys:manage',
  'members:manage',
  'organization:limits',
  'organization:targets',
  'management_tokens:manage',
];
const PERMISSIONS = {
  owner: [...ADMIN_PERMISSIONS, 'content_log:manage'],
  admin: ADMIN_PERMISSIONS,
  developer: DEVELOPER_PERMISSIONS,
  member: MEMBER_PERMISSIONS,
};

export function sessionOf(role: 'operator' | 'owner' | 'admin' | 'developer' | 'member'): Session {
  return {
    member: {
      id: 'mem-1',
      email: 'ada@example.com',
      name: '',
      role: role === 'operator' ? 'operator' : 'member',
    },
    expires_at: '2026-12-01T09:00:00.000Z',
    idle_expires_at: '2026-11-30T09:00:00.000Z',
    memberships:
      role === 'operator'
        ? []
        : [
            {
              organization: { id: 'org-1', name: 'Acme', suspended: false },
              role,
              permissions: PERMISSIONS[role],
            },
          ],
    permissions: [],
    signed_in_by: 'password',
    second_factor: false,
    has_password: true,
    time_zone: 'Europe/Berlin',
    second_factor_setup_required: false,
  };
}

/** The list of models of a deployment that serves chat completions only. */
export function modelList(
  data: Result<'GET /api/models'>['data'] = [],
  more: Partial<Result<'GET /api/models'>> = {},
): Result<'GET /api/models'> {
  return { base_url: null, api_types: ['completions'], data, ...more };
}

export function modelWith(id: string): Result<'GET /api/models'>['data'][number] {
  const price = '1';
  return {
    id,
    name: id,
    owned_by: 'acme',
    context_length: 8_192,
    max_output_tokens: 4_096,
    capabilities: [],
    reasoning_efforts: [],
    target_places: [{ provider: 'acme', region: 'eu' }],
    prices: {
      input_usd_per_million: price,
      cached_input_usd_per_million: price,
      cache_write_usd_per_million: price,
      cache_write_1h_usd_per_million: price,
      output_usd_per_million: price,
      reasoning_usd_per_million: price,
      image_usd_per_million: price,
      tiers: [],
    },
  };
}

export function projectWith(changes: Partial<Project> = {}): Project {
  return {
    id: 'proj-1',
    organization_id: 'org-1',
    name: 'Website',
    daily_budget_usd: null,
    weekly_budget_usd: null,
    monthly_budget_usd: '40',
    total_budget_usd: null,
    budgets: [],
    created_at: '2026-11-01T09:00:00.000Z',
    archived_at: null,
    version: 1,
    spend: { today_usd: '0.5', this_week_usd: '3', this_month_usd: '12.25', total_usd: '30', held_usd: '0' },
    ...changes,
  };
}

export function keyWith(changes: Partial<Key> = {}): Key {
  return {
    id: 'key-1',
    organization_id: 'org-1',
    kind: 'standard',
    name: 'production',
    last4: 'x7Qe',
    scopes: ['chat'],
    allowed_models: null,
    ip_allowlist: [],
    json_streaming: false,
    expires_on: null,
    requests_per_minute: 60,
    tokens_per_minute: null,
    concurrency: null,
    daily_budget_usd: '5',
    weekly_budget_usd: null,
    monthly_budget_usd: '100',
    total_budget_usd: null,
    budgets: [],
    project_id: null,
    created_at: '2026-11-01T09:00:00.000Z',
    revoked_at: null,
    state: 'active',
    version: 1,
    owner: { id: 'mem-1', email: 'ada@example.com', name: '', has_left: false },
    previous_secret: null,
    expires_at: null,
    activity: { last_used_at: null, spend_today_usd: '0.0015', spend_this_month_usd: '1.25' },
    ...changes,
  };
}

export const CATALOGUE_OF_FILE: Result<'GET /api/operator/catalogue/state'> = {
  ...{ source: 'file', text: 'text in effect', version: null },
  ...{ draft: null, secrets: [], routers: [] },
};

/** What the routers run of a catalogue in the database. */
export const PUBLISHED_CATALOGUE: Result<'GET /api/operator/catalogue'>['catalogue'] = {
  ...{ version: '3', file: '', published_version: 3, sha256: 'abc', rejected: null },
  loaded_at: '2026-11-20T09:00:00.000Z',
  models: [],
};

export const operatorModel = (
  id: string,
  changes: Partial<(typeof PUBLISHED_CATALOGUE)['models'][number]> = {},
): (typeof PUBLISHED_CATALOGUE)['models'][number] => ({
  ...modelWith(id),
  ...{ max_output_tokens: 4_096, disabled: false, disabled_in_file: false, switched_off: null },
  targets: [],
  ...changes,
});
