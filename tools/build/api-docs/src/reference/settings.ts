import { settings as auth } from '../../../../../apps/auth/src/config';
import { settings as billingLedger } from '../../../../../apps/billing-ledger/src/config';
import { settings as dashboardApi } from '../../../../../apps/dashboard-api/src/config';
import { settings as edgeProxy } from '../../../../../apps/edge-proxy/src/config';
import { settings as gateway } from '../../../../../apps/gateway/src/config';
import { settings as generationQuery } from '../../../../../apps/generation-query/src/config';
import { settings as inferenceRouter } from '../../../../../apps/inference-router/src/config';
import { settings as rateLimit } from '../../../../../apps/rate-limit/src/config';
import { settings as usageAggregator } from '../../../../../apps/usage-aggregator/src/config';

/** The embedded gateway, which is one process, and the services of a cluster. */
const PROCESSES = {
  gateway,
  'edge-proxy': edgeProxy,
  auth,
  'rate-limit': rateLimit,
  'billing-ledger': billingLedger,
  'inference-router': inferenceRouter,
  'usage-aggregator': usageAggregator,
  'generation-query': generationQuery,
  'dashboard-api': dashboardApi,
} as const;

export const EMBEDDED = 'gateway';
export const processNames: readonly string[] = Object.keys(PROCESSES);

export interface Setting {
  readonly name: string;
  readonly description: string;
  /** Processes that read it, with its default there: absent without a default, `required` when it must be set. */
  readonly readers: ReadonlyMap<string, string | undefined | typeof REQUIRED>;
}

export const REQUIRED = Symbol('required');

/** Every setting of every process, by name. The description is that of the first process that declares one. */
export function allSettings(): readonly Setting[] {
  const found = new Map<string, { description: string; readers: Map<string, Default> }>();
  for (const [process, { shape }] of Object.entries(PROCESSES)) {
    for (const [name, schema] of Object.entries(shape)) {
      let setting = found.get(name);
      if (!setting) found.set(name, (setting = { description: '', readers: new Map() }));
      setting.description ||= schema.description ?? '';
      setting.readers.set(process, defaultOf(schema));
    }
  }
  return [...found]
    .map(([name, { description, readers }]) => ({ name, description, readers }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

type Default = string | undefined | typeof REQUIRED;

function defaultOf(schema: { safeParse(value: unknown): { success: boolean; data?: unknown } }): Default {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return REQUIRED;
  return data === undefined || (Array.isArray(data) && data.length === 0) ? undefined : String(data);
}
