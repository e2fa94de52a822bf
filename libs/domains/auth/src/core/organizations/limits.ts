import { formatUsd, isWindowHours, MAX_WINDOW_HOURS } from '@gateway/base';
import { invalid, type AdminRefusal } from '@gateway/auth-shared';
import type { KeyLimits, Organization, OrganizationLimits, OtherBudget, ProjectBudgets } from '../model';

/** The maximum of an int4 column. */
const MAX_COUNT = 2_147_483_647;
/** One billion US dollars. */
const MAX_BUDGET_NANO_USD = 1_000_000_000_000_000_000n;

/** Each that applies is read by every hold of its owner. */
const MAX_OTHER_BUDGETS = 20;

const COUNTS = [
  ['requestsPerMinute', 'requests_per_minute'],
  ['tokensPerMinute', 'tokens_per_minute'],
  ['concurrency', 'concurrency'],
  ['maxOutputTokens', 'max_output_tokens'],
] as const;

/** The limits of a key or an organization that are counts or money. */
type CountsAndBudget = KeyLimits & Pick<OrganizationLimits, 'maxOutputTokens'>;

const BUDGETS = [
  ['dailyBudgetNanoUsd', 'daily_budget_usd', 'daily budget'],
  ['weeklyBudgetNanoUsd', 'weekly_budget_usd', 'weekly budget'],
  ['monthlyBudgetNanoUsd', 'monthly_budget_usd', 'monthly budget'],
  ['totalBudgetNanoUsd', 'total_budget_usd', 'total budget'],
] as const;

/** Refuses limits that are out of range. */
export function checkLimits(limits: CountsAndBudget): AdminRefusal | undefined {
  for (const [name, field] of COUNTS) {
    const count = limits[name];
    if (count === undefined) continue;
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
      return invalid(field, `${field} must be a whole number from 1 to ${MAX_COUNT}.`);
    }
  }
  for (const [name, field, label] of BUDGETS) {
    const budget = limits[name];
    if (budget !== undefined && (budget < 1n || budget > MAX_BUDGET_NANO_USD)) {
      return invalid(field, `The ${label} must be above 0 and at most 1000000000 US dollars.`);
    }
  }
  return checkOtherBudgets(limits);
}

/** The id of a model, or its start and an asterisk. Without commas, which separate models in queries. */
const MODEL_PATTERN = /^[\x21-\x29\x2b\x2d-\x7e]{0,255}([\x21-\x29\x2b\x2d-\x7e]|\*)$/;

function checkOtherBudgets({ otherBudgets = [] }: ProjectBudgets): AdminRefusal | undefined {
  const what = ({ period, hours, model, perEndUser }: OtherBudget) =>
    JSON.stringify([period, hours, model, perEndUser]);
  if (otherBudgets.length > MAX_OTHER_BUDGETS || new Set(otherBudgets.map(what)).size < otherBudgets.length) {
    return invalid(
      'budgets',
      `There are at most ${MAX_OTHER_BUDGETS} of these budgets, and no two differ in the amount alone.`,
    );
  }
  for (const budget of otherBudgets) {
    const refusal = checkOtherBudget(budget);
    if (refusal) return refusal;
  }
  return undefined;
}

function checkOtherBudget(budget: OtherBudget): AdminRefusal | undefined {
  const { period, hours, model, perEndUser = false, amountNanoUsd } = budget;
  if (period === 'window' ? !isWindowHours(hours ?? 0) : hours !== undefined) {
    return invalid(
      'budgets',
      `A rolling window has 1 to ${MAX_WINDOW_HOURS} hours; other periods have none.`,
    );
  }
  if (model !== undefined && !MODEL_PATTERN.test(model)) {
    return invalid('budgets', 'A model is the ID of a model, or the start of IDs followed by an asterisk.');
  }
  if (model !== undefined && perEndUser) {
    return invalid('budgets', 'A budget is of some models or of each end user, not both.');
  }
  if (model === undefined && !perEndUser && period !== 'window') {
    return invalid('budgets', `The budget of a ${period} for all models has a field of its own.`);
  }
  return amountNanoUsd >= 1n && amountNanoUsd <= MAX_BUDGET_NANO_USD
    ? undefined
    : invalid('budgets', 'Each budget must be above 0 and at most 1000000000 US dollars.');
}

/** Refuses budgets of end users, which only keys have. */
export function checkHasNoEndUsers({ otherBudgets = [] }: ProjectBudgets): AdminRefusal | undefined {
  return otherBudgets.some(({ perEndUser }) => perEndUser)
    ? invalid('budgets', 'Only keys have a budget for each end user.')
    : undefined;
}

/** Refuses limits of a key, or budgets of a project, that are above the organization's. */
export function checkWithinOrganization(
  limits: KeyLimits,
  organization: Pick<Organization, 'limits' | 'ceilings'>,
): AdminRefusal | undefined {
  return checkWithin(limits, effectiveLimits(organization), "the organization's");
}

/** Refuses budgets of a key that are above its project's. */
export function checkWithinProject(key: KeyLimits, project: ProjectBudgets): AdminRefusal | undefined {
  return checkWithin(key, project, "the project's");
}

/** Refuses limits of an organization that are above its ceilings. */
export function checkWithinCeilings(
  limits: OrganizationLimits,
  ceilings: OrganizationLimits,
): AdminRefusal | undefined {
  if (limits.multipleCompletions && !ceilings.multipleCompletions) {
    return invalid(
      'multiple_completions',
      'Multiple completions are not enabled for this organization. An operator can enable them.',
    );
  }
  return checkWithin(limits, ceilings, 'the ceiling');
}

function checkWithin(
  limits: CountsAndBudget,
  bounds: CountsAndBudget,
  nameOfBound: string,
): AdminRefusal | undefined {
  for (const [name, field] of COUNTS) {
    const limit = limits[name];
    const bound = bounds[name];
    if (limit !== undefined && bound !== undefined && limit > bound) {
      return invalid(field, `${field} must be at or below ${nameOfBound}, which is ${bound}.`);
    }
  }
  for (const [name, field, label] of BUDGETS) {
    const budget = limits[name];
    const bound = bounds[name];
    if (budget !== undefined && bound !== undefined && budget > bound) {
      return invalid(
        field,
        `The ${label} must be at or below ${nameOfBound}, which is ${formatUsd(bound)} US dollars.`,
      );
    }
  }
  return undefined;
}

/** What edges enforce: a ceiling applies where the organization has no limit. */
export function effectiveLimits({
  limits,
  ceilings,
}: Pick<Organization, 'limits' | 'ceilings'>): OrganizationLimits {
  return { ...ceilings, ...limits };
}

/** The limits, each lowered to its ceiling if it is above. */
export function lowerToCeilings(
  limits: OrganizationLimits,
  ceilings: OrganizationLimits,
): OrganizationLimits {
  return {
    ...limits,
    ...whereBothAre(limits, ceilings, (limit, ceiling) => (ceiling < limit ? ceiling : limit)),
    multipleCompletions: limits.multipleCompletions && ceilings.multipleCompletions,
  };
}

/** The ceilings of an organization that is created without: the default limits, or its own where they are above. */
export function initialCeilings(
  defaults: OrganizationLimits,
  limits: OrganizationLimits = defaults,
): OrganizationLimits {
  return {
    ...defaults,
    ...whereBothAre(defaults, limits, (ceiling, limit) => (limit > ceiling ? limit : ceiling)),
    multipleCompletions: false,
  };
}

/** Chooses between each two limits of the same name. */
function whereBothAre(
  some: CountsAndBudget,
  others: CountsAndBudget,
  choose: <Value extends number | bigint>(one: Value, other: Value) => Value,
): CountsAndBudget {
  const chosen: { -readonly [Name in keyof CountsAndBudget]: CountsAndBudget[Name] } = {};
  for (const [name] of COUNTS) {
    const [one, other] = [some[name], others[name]];
    if (one !== undefined && other !== undefined) chosen[name] = choose(one, other);
  }
  for (const [name] of BUDGETS) {
    const [one, other] = [some[name], others[name]];
    if (one !== undefined && other !== undefined) chosen[name] = choose(one, other);
  }
  return chosen;
}

/** The limits of an organization that is created without limits. */
export const DEFAULT_ORGANIZATION_LIMITS: OrganizationLimits = {
  requestsPerMinute: 600,
  tokensPerMinute: 1_000_000,
  concurrency: 64,
  maxOutputTokens: 32_768,
  multipleCompletions: false,
};
