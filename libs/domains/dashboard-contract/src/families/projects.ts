import { z } from 'zod';
import { created, EDGE_CHANGE_TIMEOUT_MS, endpoint, json } from '../endpoint';
import { emptyBody, id, page, pageQuery, positiveUsd, time, usd, version } from '../fields';

/** Budgets that have no field of their own. */
const otherBudgetFields = {
  period: z.enum(['day', 'week', 'month', 'total', 'window']).meta({
    description:
      'UTC day, week from Monday, calendar month, all time, or a rolling window: the current UTC hour and those before it.',
  }),
  model: z.string().min(1).max(256).optional().meta({
    description:
      'Only requests for this model count; with an asterisk at the end, for all models whose IDs start so.',
  }),
  per_end_user: z.boolean().optional().meta({
    description:
      'Each end user of the key may spend the amount; requests without an end user share one. Only for keys.',
  }),
};

const hours = z.int().min(0).max(744).meta({ description: 'The length of a window; 0 for other periods.' });

export const otherBudgets = z.array(z.object({ ...otherBudgetFields, hours, amount_usd: usd })).meta({
  description:
    'Budgets of rolling windows, of models and of end users. They count what was admitted while they applied.',
});

export const otherBudgetsToSet = z
  .array(z.strictObject({ ...otherBudgetFields, hours: hours.optional(), amount_usd: positiveUsd }))
  .max(20)
  .nullable()
  .meta({
    description: 'Replaces the list. An empty one, or null, means none. No two differ in the amount alone.',
  });

/** The other budgets whose spend is wanted. */
export const otherSpends = z.strictObject({
  hours: z
    .string()
    .regex(/^[1-9]\d{0,2}(,[1-9]\d{0,2}){0,19}$/, {
      error: 'must be 1 to 20 numbers of hours, separated by commas',
    })
    .transform((text) => text.split(',').map(Number))
    .default([])
    .meta({ description: 'Also reads what counts against rolling windows of these hours: 1 to 20 numbers.' }),
  models: z
    .string()
    .regex(/^[\x21-\x2b\x2d-\x7e]{1,256}(,[\x21-\x2b\x2d-\x7e]{1,256}){0,19}$/, {
      error: 'must be 1 to 20 models, separated by commas',
    })
    .transform((text) => text.split(','))
    .default([])
    .meta({
      description: 'Also reads what counts against budgets for these models: 1 to 20, as in the budgets.',
    }),
});

export const windowSpends = z
  .array(z.object({ hours: z.int(), spent_usd: usd, held_usd: usd }))
  .meta({ description: 'Of the requested `hours`, in their order.' });

/** A budget that each end user of a key has. */
export const endUserSpendQuery = z.strictObject({
  period: otherBudgetFields.period,
  hours: z
    .string()
    .regex(/^([1-9]\d?|[1-6]\d\d|7[0-3]\d|74[0-4])$/, { error: 'must be an integer from 1 to 744' })
    .transform(Number)
    .optional()
    .meta({ description: 'The length of a window, which it requires.' }),
  limit: z
    .string()
    .regex(/^([1-9]\d?|100)$/, { error: 'must be an integer from 1 to 100' })
    .default('10')
    .transform(Number)
    .meta({ description: 'The most end users: 1 to 100, 10 when absent.' }),
});

export const endUserSpends = z.array(
  z
    .object({
      end_user: z.string().nullable().meta({ description: 'Null: the requests without an end user.' }),
      spent_usd: usd,
      held_usd: usd.meta({ description: 'Reserved by running requests, in addition.' }),
    })
    .meta({ id: 'EndUserSpend' }),
);

export const project = z
  .object({
    id,
    organization_id: id,
    name: z.string(),
    daily_budget_usd: usd.nullable().meta({ description: 'Resets at 00:00 UTC.' }),
    weekly_budget_usd: usd.nullable().meta({ description: 'Resets on Mondays at 00:00 UTC.' }),
    monthly_budget_usd: usd
      .nullable()
      .meta({ description: 'Resets on the first of the month at 00:00 UTC.' }),
    total_budget_usd: usd.nullable().meta({ description: 'Never resets.' }),
    budgets: otherBudgets,
    created_at: time,
    archived_at: time.nullable().meta({ description: 'An archived project has no active keys.' }),
    version: version.meta({ description: 'Increases with each change.' }),
  })
  .meta({ id: 'Project', description: 'Keys of an organization that share budgets. Null: no budget.' });

export const budgetSpend = z
  .object({
    today_usd: usd,
    this_week_usd: usd,
    this_month_usd: usd,
    total_usd: usd,
    held_usd: usd.meta({ description: 'Reserved by running requests, in addition.' }),
  })
  .meta({
    id: 'BudgetSpend',
    description:
      'Charges that count against the budgets. Days, weeks (from Monday) and months are UTC, by the time of admission.',
  });

export const modelSpends = z
  .array(budgetSpend.extend({ model: z.string(), windows: windowSpends }).meta({ id: 'ModelSpend' }))
  .meta({
    description:
      'Of the requested `models`, in their order. Without what was admitted before there was a budget.',
  });

const projectWithSpend = project
  .extend({ spend: budgetSpend.nullable().meta({ description: 'Null when the ledger is unavailable.' }) })
  .meta({ id: 'ProjectWithSpend' });

const projectFields = {
  name: z.string(),
  daily_budget_usd: positiveUsd.nullable(),
  weekly_budget_usd: positiveUsd.nullable(),
  monthly_budget_usd: positiveUsd.nullable(),
  total_budget_usd: positiveUsd.nullable(),
  budgets: otherBudgetsToSet,
};

const projectChanges = z.strictObject(projectFields).partial();
const newProject = projectChanges.required({ name: true });
const changedProject = projectChanges.extend({ version: version.optional() });

const oneProject = z.object({ project });

export const projectQuery = pageQuery.extend({
  state: z.enum(['active', 'archived', 'all']).default('active'),
  ids: z
    .string()
    .regex(/^[\w-]+(,[\w-]+){0,99}$/, { error: 'must be 1 to 100 ids, separated by commas' })
    .optional()
    .meta({ description: 'Only these projects: at most 100 ids, separated by commas.' }),
});

const path = '/api/organizations/{organization_id}/projects';

export const projectEndpoints = {
  list: endpoint({
    method: 'GET',
    path,
    access: 'organization:read',
    summary: 'List the projects of an organization',
    query: projectQuery,
    response: json(page(projectWithSpend)),
    compressed: true,
  }),
  create: endpoint({
    method: 'POST',
    path,
    owner: 'auth',
    access: 'organization:limits',
    summary: 'Create a project',
    description:
      'Its budgets are at or below those of the organization. An organization has at most 200 projects.',
    body: newProject,
    response: created(oneProject),
    audit: ['project.create'],
    errors: ['conflict'],
  }),
  update: endpoint({
    method: 'PUT',
    path: `${path}/{project_id}`,
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:limits',
    summary: 'Change the name and the budgets of a project',
    description:
      'Absent fields keep their value; null means no budget. Budgets of its keys above a new budget are lowered to it; the audit entry names them. With `version`, the response is 409 `version_conflict` if the project has changed since.',
    body: changedProject,
    response: json(oneProject),
    audit: ['project.update'],
    errors: ['conflict', 'version_conflict'],
  }),
  budgetSpend: endpoint({
    method: 'GET',
    path: `${path}/{project_id}/budget-spend`,
    owner: 'billing-ledger',
    access: 'organization:read',
    summary: 'Get what counts against the budgets of a project',
    description: 'Zero for a project that does not exist.',
    query: otherSpends,
    response: json(z.object({ spend: budgetSpend, windows: windowSpends, models: modelSpends })),
  }),
  archive: endpoint({
    method: 'POST',
    path: `${path}/{project_id}/archive`,
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:limits',
    summary: 'Archive a project permanently',
    description:
      'Idempotent. Refused with 409 `conflict` while the project has keys that are not revoked. Its usage stays.',
    body: emptyBody,
    response: json(oneProject),
    audit: ['project.archive'],
    errors: ['conflict'],
  }),
} as const;
