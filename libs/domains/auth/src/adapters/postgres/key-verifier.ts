import type { UnixMs, UtcDay } from '@gateway/base';
import type { Pool } from 'pg';
import type { KeyGrant, KeyLimits, Scope } from '../../core/model';
import type { KeyVerifier } from '../../core/ports';
import type { OtherBudgetRow } from '../other-budgets';
import {
  budgetColumns,
  budgetsOf,
  effectiveBudgetColumns,
  budgetsOfRows,
  type BudgetAmounts,
} from './budget-columns';

const VERIFY_KEY = `
  select
    k.id as key_id,
    k.organization_id,
    k.revoked_at is not null as revoked,
    to_char(k.expires_on, 'YYYY-MM-DD') as expires_on,
    k.expires_at,
    k.scopes,
    k.allowed_models,
    k.ip_allowlist,
    k.json_streaming,
    k.requests_per_minute as key_requests_per_minute,
    k.tokens_per_minute as key_tokens_per_minute,
    ${budgetColumns('k')} as key_budgets,
    k.other_budgets as key_other_budgets,
    k.concurrency as key_concurrency,
    o.suspended,
    coalesce(o.requests_per_minute, o.ceiling_requests_per_minute) as requests_per_minute,
    coalesce(o.tokens_per_minute, o.ceiling_tokens_per_minute) as tokens_per_minute,
    ${effectiveBudgetColumns('o')} as organization_budgets,
    o.other_budgets as organization_other_budgets,
    coalesce(o.concurrency, o.ceiling_concurrency) as concurrency,
    coalesce(o.max_output_tokens, o.ceiling_max_output_tokens) as max_output_tokens,
    o.multiple_completions,
    o.allowed_providers,
    o.denied_providers,
    o.allowed_regions,
    o.denied_regions,
    p.id as project_id,
    ${budgetColumns('p')} as project_budgets,
    p.other_budgets as project_other_budgets,
    o.elastic_holds,
    o.usage_tags,
    found.secret_ends_at
  from (
    select id, null::timestamptz as secret_ends_at from api_keys where sha256 = $1
    union all
    select id, previous_works_until from api_keys where previous_sha256 = $1
  ) as found
  join api_keys k on k.id = found.id
  join organizations o on o.id = k.organization_id
  left join projects p on p.id = k.project_id
  limit 1`;

interface VerifiedRow {
  /** When the previous secret of a rotated key expires. */
  readonly secret_ends_at: Date | null;
  readonly key_id: string;
  readonly organization_id: string;
  readonly revoked: boolean;
  readonly expires_on: UtcDay | null;
  readonly expires_at: Date | null;
  readonly scopes: Scope[];
  readonly allowed_models: string[];
  readonly ip_allowlist: string[];
  readonly json_streaming: boolean;
  readonly key_requests_per_minute: number | null;
  readonly key_tokens_per_minute: number | null;
  readonly key_budgets: BudgetAmounts;
  readonly key_other_budgets: readonly OtherBudgetRow[];
  readonly key_concurrency: number | null;
  readonly suspended: boolean;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly organization_budgets: BudgetAmounts;
  readonly organization_other_budgets: readonly OtherBudgetRow[];
  readonly concurrency: number | null;
  readonly max_output_tokens: number | null;
  readonly multiple_completions: boolean;
  readonly allowed_providers: string[];
  readonly denied_providers: string[];
  readonly allowed_regions: string[];
  readonly denied_regions: string[];
  readonly project_id: string | null;
  readonly project_budgets: BudgetAmounts;
  /** Null: the key has no project. */
  readonly project_other_budgets: readonly OtherBudgetRow[] | null;
  readonly elastic_holds: boolean;
  readonly usage_tags: string[];
}

type LimitColumns = Pick<VerifiedRow, 'requests_per_minute' | 'tokens_per_minute' | 'concurrency'>;

/** One prepared, indexed query per key. The pool must read int8 as bigint. */
export function createPostgresKeyVerifier(pool: Pool): KeyVerifier {
  return {
    async verify(sha256) {
      const { rows } = await pool.query<VerifiedRow>({
        name: 'auth_verify_key',
        text: VERIFY_KEY,
        values: [sha256],
      });
      const row = rows[0];
      return row && grantOf(row);
    },
  };
}

function grantOf(row: VerifiedRow): KeyGrant {
  return {
    keyId: row.key_id,
    organizationId: row.organization_id,
    revoked: row.revoked,
    settings: {
      scopes: row.scopes,
      allowedModels: row.allowed_models,
      ipAllowlist: row.ip_allowlist,
      jsonStreaming: row.json_streaming,
      ...(row.expires_on === null ? {} : { expiresOn: row.expires_on }),
      ...(row.project_id === null ? {} : { projectId: row.project_id }),
      limits: limitsOf({
        requests_per_minute: row.key_requests_per_minute,
        tokens_per_minute: row.key_tokens_per_minute,
        concurrency: row.key_concurrency,
      }),
    },
    organizationLimits: {
      ...limitsOf(row),
      ...(row.max_output_tokens === null ? {} : { maxOutputTokens: row.max_output_tokens }),
      multipleCompletions: row.multiple_completions,
    },
    organizationSuspended: row.suspended,
    targetRules: {
      allowedProviders: row.allowed_providers,
      deniedProviders: row.denied_providers,
      allowedRegions: row.allowed_regions,
      deniedRegions: row.denied_regions,
    },
    budgets: [
      ...budgetsOf('key', row.key_id, row.key_budgets),
      ...budgetsOf('project', row.project_id ?? '', row.project_budgets),
      ...budgetsOf('organization', '', row.organization_budgets),
      ...budgetsOfRows('key', row.key_id, row.key_other_budgets),
      ...budgetsOfRows('project', row.project_id ?? '', row.project_other_budgets),
      ...budgetsOfRows('organization', '', row.organization_other_budgets),
    ],
    elasticHolds: row.elastic_holds,
    usageTags: row.usage_tags,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at.getTime() as UnixMs }),
    ...(row.secret_ends_at === null ? {} : { secretEndsAt: row.secret_ends_at.getTime() as UnixMs }),
  };
}

function limitsOf({
  requests_per_minute: requestsPerMinute,
  tokens_per_minute: tokensPerMinute,
  concurrency,
}: LimitColumns): KeyLimits {
  return {
    ...(requestsPerMinute === null ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === null ? {} : { tokensPerMinute }),
    ...(concurrency === null ? {} : { concurrency }),
  };
}
