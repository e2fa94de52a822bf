import { formatUsd, type NanoUsd } from '@gateway/base';
import { invalid, type AdminRefusal } from '@gateway/auth-shared';
import type { KeyLimits, OrganizationLimits } from '../model';

/** The largest count that a limit can have: what an int4 column holds. */
const MAX_COUNT = 2_147_483_647;
/** The largest budget: a billion dollars. */
const MAX_BUDGET_NANO_USD = 1_000_000_000_000_000_000n;

const COUNTS = [
  ['requestsPerMinute', 'requests_per_minute'],
  ['tokensPerMinute', 'tokens_per_minute'],
  ['concurrency', 'concurrency'],
] as const;

/** The contract's name of the daily budget. */
const DAILY_BUDGET_FIELD = 'daily_budget_nano_usd';

/** Whether every limit that is there is a number that limits something. */
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
 * A key's caps are at or below its organization's when they are written. An
 * organization's limit that is lowered later binds the key all the same, since
 * both are enforced.
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

/** What a new organization gets when the caller names no limits. */
export const DEFAULT_ORGANIZATION_LIMITS: OrganizationLimits = {
  requestsPerMinute: 600,
  tokensPerMinute: 1_000_000,
  concurrency: 64,
  maxOutputTokens: 32_768,
  multipleCompletions: false,
};
