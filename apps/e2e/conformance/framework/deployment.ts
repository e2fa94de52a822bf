import { createTenant, signIn, type AdminClient, type Tenant } from '@gateway/test-support';
import type { HttpTarget } from './http';

/**
 * What a case needs beyond the public API and the dashboard API. A deployment
 * that lacks it reports the case as not provable there, never as passed.
 * - `emulator`: the demo models are served by the model emulator, whose faults
 *   are asked for in the message.
 * - `breakage`: the suite started the deployment itself and may break its database.
 */
export type Need = 'emulator' | 'breakage';

export interface DeploymentAddress {
  /** With /v1. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
}

export interface PublicModel {
  readonly id: string;
  readonly capabilities: readonly string[];
  readonly context_length: number;
  readonly max_output_tokens: number;
  readonly reasoning?: { readonly supported_efforts: readonly string[]; readonly default_effort?: string };
  readonly pricing: Readonly<Record<string, string>>;
}

/** Ways to break what the deployment stands on; only for one that the suite started itself. */
export interface Breakage {
  /** The database does not answer while `during` runs. */
  withoutDatabase<Value>(during: () => Promise<Value>): Promise<Value>;
  /** What settled generations are read from is gone while `during` runs. */
  withoutGenerations<Value>(during: () => Promise<Value>): Promise<Value>;
}

/** A running gateway, seen from outside. */
export interface Deployment extends DeploymentAddress, HttpTarget {
  readonly admin: AdminClient;
  readonly models: readonly PublicModel[];
  readonly breakage: Breakage | undefined;
  has(need: Need): boolean;
  /** A new organization with credit, no limits, and a key with both scopes. */
  tenant(options?: Parameters<typeof createTenant>[1]): Promise<Tenant>;
  /** Shared by cases that change nothing of it. */
  readonly shared: Tenant;
  /**
   * The first model that has all these capabilities and none of those. One that
   * reasons spends its tokens on that first, so it is taken only when asked for.
   */
  model(having?: readonly string[], lacking?: readonly string[]): PublicModel;
}

/** Signs in, makes a shared tenant and looks at what the deployment offers. */
export async function openDeployment(address: DeploymentAddress, breakage?: Breakage): Promise<Deployment> {
  const admin = await signIn(address.dashboardUrl, address.adminEmail, address.adminPassword);
  const shared = await createTenant(admin);
  const response = await fetch(`${address.baseUrl}/models`, {
    headers: { authorization: `Bearer ${shared.apiKey}` },
  });
  const { data: models } = JSON.parse(await response.text()) as { data: PublicModel[] };
  const emulated = await answersAsEmulator(address.baseUrl, shared.apiKey, models[0]?.id);

  return {
    ...address,
    admin,
    models,
    shared,
    breakage,
    has: (need) => (need === 'emulator' ? emulated : breakage !== undefined),
    tenant: (options) => createTenant(admin, options),
    model(having = [], lacking = []) {
      const found = models.find(
        ({ capabilities }) =>
          having.every((one) => capabilities.includes(one)) &&
          (having.includes('reasoning') || !capabilities.includes('reasoning')) &&
          !lacking.some((one) => capabilities.includes(one)),
      );
      if (!found) throw new Error(`no model with [${having.join()}] and without [${lacking.join()}]`);
      return found;
    },
  };
}

/** The emulator refuses directives that it does not know; a model would just answer. */
async function answersAsEmulator(baseUrl: string, apiKey: string, model?: string): Promise<boolean> {
  if (!model) return false;
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      max_tokens: 5,
      messages: [{ role: 'user', content: '[[fault:is-this-an-emulator]]' }],
    }),
  });
  await response.body?.cancel();
  return response.status === 400;
}
