import { formatUsd, type NanoUsd } from '@gateway/base';
import { invalid, type AdminRefusal } from '@gateway/auth-shared';
import type { KeyLimits, OrganizationLimits } from '../model';

/** The maximum of an int4 column. */
const MAX_COUNT = 2_147_483_647;
/** One billion US dollars. */
const MAX_BUDGET_NANO_USD = 1_000_000_000_000_000_000n;

const COUNTS = [
  ['requestsPerMinute', 'requests_per_minute'],
  ['tokensPerMinute', 'tokens_per_minute'],
  ['concurrency', 'concurrency'],
] as const;

/** The name of the daily budget in the API. */
const DAILY_BUDGET_FIELD = 'daily_budget_nano_usd';

/** Refuses limits that are out of range. */
export function checkLimits(limits: KeyLimits & { maxOutputTokens?: number }): AdminRefusal | undefined {
  for (const [name, field] of [...COUNTS, ['maxOutputTokens', 'max_output_tokens']] as const) {
    const count = limits[name];
    if (count === undefined) continue;
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
      return invalid(field, `${field} must be a whole number from 1 to ${MAX_COUNT}.`);
    }
  }
  const budget = limits.dailyBudgetNanoUsd;
  if (budget !== undefined && (budget < 1n || budget > MAX_BUDGET_NANO_USD)) {
    return invalid(DAILY_BUDGET_FIELD, 'The daily budget must be above 0 and at most 1000000000 US dollars.');
  }
  return undefined;
}

/**
 * Refuses caps of a key that exceed the organization's limits. If those limits
 * are lowered later, they still apply to the key, since both are enforced.
 */
export function checkWithinOrganization(
  key: KeyLimits,
  organization: OrganizationLimits,
): AdminRefusal | undefined {
  for (const [name, field] of COUNTS) {
    const cap = key[name];
    const limit = organization[name];
    if (cap !== undefined && limit !== undefined && cap > limit) {
      return invalid(field, `${field} must be at or below the organization's, which is ${limit}.`);
    }
  }
  if (isAbove(key.dailyBudgetNanoUsd, organization.dailyBudgetNanoUsd)) {
    const limit = formatUsd(organization.dailyBudgetNanoUsd as NanoUsd);
    return invalid(
      DAILY_BUDGET_FIELD,
      `The daily budget must be at or below the organization's, which is ${limit} US dollars.`,
    );
  }
  return undefined;
}

function isAbove(cap: NanoUsd | undefined, limit: NanoUsd | undefined): boolean {
  return cap !== undefined && limit !== undefined && cap > limit;
}

/** The limits of an organization that is created without limits. */
export const DEFAULT_ORGANIZATION_LIMITS: OrganizationLimits = {
  requestsPerMinute: 600,
  tokensPerMinute: 1_000_000,
  concurrency: 64,
  maxOutputTokens: 32_768,
  multipleCompletions: false,
};
