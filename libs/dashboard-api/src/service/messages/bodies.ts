import { parseUsd } from '@gateway/base';
import { Scope, type KeyLimits, type KeySettings, type OrganizationLimits } from '@gateway/contracts/auth';
import { z } from 'zod';

/**
 * The bodies that this API takes. Only shapes are checked here; the rules are
 * those of the domain that owns the thing, which answers with what it refuses.
 */

const MAX_COUNT = 2_147_483_647;

const count = z.int().min(1).max(MAX_COUNT).nullable();
const positiveUsd = z.string().transform((text, context) => {
  const amount = parseUsd(text);
  if (amount !== undefined && amount > 0n) return amount;
  context.addIssue({
    code: 'custom',
    message: 'must be a decimal number of US dollars above 0 as a string, such as "12.50"',
  });
  return z.NEVER;
});

export const signInBody = z.strictObject({
  email: z.string().max(1_000),
  password: z.string().max(1_000),
});

/** Every limit has to be named: one that was forgotten must not silently cease to apply. */
export const organizationLimitsBody = z.strictObject({
  requests_per_minute: count,
  tokens_per_minute: count,
  daily_budget_usd: positiveUsd.nullable(),
  concurrency: count,
  max_output_tokens: count,
  multiple_completions: z.boolean(),
});

export const createOrganizationBody = z.strictObject({
  name: z.string(),
  limits: organizationLimitsBody.optional(),
});

export const suspendBody = z.strictObject({ reason: z.string().nullish() });

export const emptyBody = z.strictObject({});

export const addCreditBody = z.strictObject({
  amount_usd: positiveUsd,
  note: z.string().max(200).nullish(),
});

const keyFields = {
  name: z.string(),
  scopes: z.array(z.enum(['chat', 'usage:read'])),
  allowed_models: z.array(z.string()).nullable(),
  ip_allowlist: z.array(z.string()).nullable(),
  expires_on: z.string().nullable(),
  requests_per_minute: count,
  tokens_per_minute: count,
  concurrency: count,
  daily_budget_usd: positiveUsd.nullable(),
};

export const updateKeyBody = z.strictObject(keyFields).partial();
export const createKeyBody = updateKeyBody.required({ name: true, scopes: true });

export type KeyChanges = z.output<typeof updateKeyBody>;

export function organizationLimitsMessage(body: z.output<typeof organizationLimitsBody>): OrganizationLimits {
  return {
    requestsPerMinute: body.requests_per_minute ?? undefined,
    tokensPerMinute: body.tokens_per_minute ?? undefined,
    dailyBudgetNanoUsd: body.daily_budget_usd ?? undefined,
    concurrency: body.concurrency ?? undefined,
    maxOutputTokens: body.max_output_tokens ?? undefined,
    multipleCompletions: body.multiple_completions,
  };
}

/** What a key with these settings has after the change: absent fields stay, null takes a restriction away. */
export function changedKeySettings(
  current: Omit<KeySettings, 'limits'> & { limits: KeyLimits | undefined },
  changes: KeyChanges,
): KeySettings {
  const { limits } = current;
  return {
    name: changes.name ?? current.name,
    scopes: changes.scopes?.map(scopeMessage) ?? current.scopes,
    allowedModels: replaced(changes.allowed_models, current.allowedModels) ?? [],
    ipAllowlist: replaced(changes.ip_allowlist, current.ipAllowlist) ?? [],
    expiresOn: replaced(changes.expires_on, current.expiresOn),
    limits: {
      requestsPerMinute: replaced(changes.requests_per_minute, limits?.requestsPerMinute),
      tokensPerMinute: replaced(changes.tokens_per_minute, limits?.tokensPerMinute),
      concurrency: replaced(changes.concurrency, limits?.concurrency),
      dailyBudgetNanoUsd: replaced<bigint>(changes.daily_budget_usd, limits?.dailyBudgetNanoUsd),
    },
  };
}

export const UNRESTRICTED_KEY: KeySettings = {
  name: '',
  scopes: [],
  allowedModels: [],
  ipAllowlist: [],
  expiresOn: undefined,
  limits: undefined,
};

function replaced<Value>(change: Value | null | undefined, current: Value | undefined): Value | undefined {
  return change === undefined ? current : (change ?? undefined);
}

function scopeMessage(scope: 'chat' | 'usage:read'): Scope {
  return scope === 'chat' ? Scope.SCOPE_CHAT : Scope.SCOPE_USAGE_READ;
}
