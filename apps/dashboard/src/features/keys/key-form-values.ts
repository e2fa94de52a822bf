import type { CallOptions } from '@gateway/dashboard-contract/client';
import { ApiError } from '@gateway/dashboard-contract/client';
import { messageOf } from '../../ui/states';
import type { UseFormSetError } from 'react-hook-form';
import type { Key } from '../../api/keys';
import { readAmount } from '../../format/money';
import { parseAllowlist } from './ip-allowlist';
import { parseLimit } from './limit-values';
import { otherBudgetsBodyOf, otherBudgetValuesOf, type OtherBudgetValue } from './other-budget-values';

/** The form's values as typed. */
export interface KeyFormValues {
  readonly name: string;
  readonly chat: boolean;
  readonly readUsage: boolean;
  readonly jsonStreaming: boolean;
  /** Null: all models, including future ones. */
  readonly models: readonly string[] | null;
  readonly addresses: string;
  readonly expiresOn: string;
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly concurrency: string;
  readonly dailyBudget: string;
  readonly weeklyBudget: string;
  readonly monthlyBudget: string;
  readonly totalBudget: string;
  readonly otherBudgets: readonly OtherBudgetValue[];
  /** The id of a project; empty for none. */
  readonly project: string;
}

export type KeyBody = CallOptions<'POST /api/organizations/{organization_id}/keys'>['body'];

export const EMPTY_KEY: KeyFormValues = {
  name: '',
  chat: true,
  readUsage: false,
  jsonStreaming: false,
  models: null,
  addresses: '',
  expiresOn: '',
  requestsPerMinute: '',
  tokensPerMinute: '',
  concurrency: '',
  dailyBudget: '',
  weeklyBudget: '',
  monthlyBudget: '',
  totalBudget: '',
  otherBudgets: [],
  project: '',
};

export function valuesOf(key: Key): KeyFormValues {
  return {
    name: key.name,
    chat: key.scopes.includes('chat'),
    readUsage: key.scopes.includes('usage:read'),
    jsonStreaming: key.json_streaming,
    models: key.allowed_models,
    addresses: key.ip_allowlist.join('\n'),
    expiresOn: key.expires_on ?? '',
    requestsPerMinute: key.requests_per_minute?.toString() ?? '',
    tokensPerMinute: key.tokens_per_minute?.toString() ?? '',
    concurrency: key.concurrency?.toString() ?? '',
    dailyBudget: key.daily_budget_usd ?? '',
    weeklyBudget: key.weekly_budget_usd ?? '',
    monthlyBudget: key.monthly_budget_usd ?? '',
    totalBudget: key.total_budget_usd ?? '',
    otherBudgets: otherBudgetValuesOf(key.budgets),
    project: key.project_id ?? '',
  };
}

/** Includes every field of the form, so that cleared fields remove their restriction. */
export function bodyOf(values: KeyFormValues): KeyBody {
  return {
    name: values.name.trim(),
    scopes: [
      ...(values.chat ? (['chat'] as const) : []),
      ...(values.readUsage ? (['usage:read'] as const) : []),
    ],
    json_streaming: values.jsonStreaming,
    allowed_models: values.models && [...values.models],
    ip_allowlist: parseAllowlist(values.addresses),
    expires_on: values.expiresOn || null,
    requests_per_minute: parseLimit(values.requestsPerMinute),
    tokens_per_minute: parseLimit(values.tokensPerMinute),
    concurrency: parseLimit(values.concurrency),
    daily_budget_usd: readAmount(values.dailyBudget) || null,
    weekly_budget_usd: readAmount(values.weeklyBudget) || null,
    monthly_budget_usd: readAmount(values.monthlyBudget) || null,
    total_budget_usd: readAmount(values.totalBudget) || null,
    budgets: otherBudgetsBodyOf(values.otherBudgets),
    project_id: values.project || null,
  };
}

export const modelsError = (models: readonly string[] | null): string | undefined =>
  models?.length === 0 ? 'Select at least one model.' : undefined;

/** A key whose expiration date has passed can keep it. */
export function expiryError(day: string, unchanged: string): string | undefined {
  const today = new Date().toISOString().slice(0, 10);
  return day === '' || day === unchanged || day >= today ? undefined : 'Choose today or a later date.';
}

const FIELD_OF_PARAM: Readonly<Record<string, keyof KeyFormValues>> = {
  name: 'name',
  scopes: 'chat',
  json_streaming: 'jsonStreaming',
  allowed_models: 'models',
  ip_allowlist: 'addresses',
  expires_on: 'expiresOn',
  requests_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
  concurrency: 'concurrency',
  daily_budget_usd: 'dailyBudget',
  weekly_budget_usd: 'weeklyBudget',
  monthly_budget_usd: 'monthlyBudget',
  total_budget_usd: 'totalBudget',
  budgets: 'otherBudgets',
  project_id: 'project',
};

/** Shows a server error at the field that it names; returns false if it names none. */
export function setFieldError(error: unknown, setError: UseFormSetError<KeyFormValues>): boolean {
  if (!(error instanceof ApiError) || error.code !== 'invalid') return false;
  const field = FIELD_OF_PARAM[error.param?.replace(/[[.].*$/, '') ?? ''];
  if (field === undefined) return false;
  setError(field, { message: messageOf(error) }, { shouldFocus: true });
  return true;
}
