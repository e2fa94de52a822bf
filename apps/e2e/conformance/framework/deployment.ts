import { createTenant, signIn, type AdminClient, type Tenant } from '@gateway/test-support';
import { modelPrefixOf, otherDialects } from '../../src/testing/dialects';
import { otherFormats, publicFormats, type OtherFormat } from './format';
import type { KeyedTarget } from './http';

/**
 * Requirements of a case beyond the public API and the dashboard API. Without them the
 * case is skipped.
 * - `emulator`: the models are served by the model emulator, which injects faults on
 *   request.
 * - `faultInjection`: the suite started the deployment itself and may break its database.
 * - `dialects`: the emulator serves models in every dialect.
 * - `messages`, `responses`, `embeddings`: the deployment serves this format.
 */
export type Need = 'emulator' | 'faultInjection' | 'dialects' | OtherFormat;

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
  /** Absent: chat completions only. */
  readonly endpoints?: readonly string[];
}

/** Faults of the database, only for a deployment that the suite started itself. */
export interface FaultInjection {
  /** The database does not respond while `during` runs. */
  withoutDatabase<Value>(during: () => Promise<Value>): Promise<Value>;
  /** The table of settled generations is missing while `during` runs. */
  withoutGenerations<Value>(during: () => Promise<Value>): Promise<Value>;
}

/** A running gateway and its test data. */
export interface Deployment extends DeploymentAddress, KeyedTarget {
  readonly admin: AdminClient;
  /** The chat models. */
  readonly models: readonly PublicModel[];
  readonly embeddingModels: readonly PublicModel[];
  readonly faultInjection: FaultInjection | undefined;
  has(need: Need): boolean;
  /** Creates an organization with credit, no limits, and a key with both scopes. */
  tenant(options?: Parameters<typeof createTenant>[1]): Promise<Tenant>;
  /** For cases that do not modify it. */
  readonly shared: Tenant;
  /**
   * The first model with all required and none of the excluded capabilities. A reasoning
   * model uses tokens for reasoning first, so it is returned only if required.
   */
  model(having?: readonly string[], lacking?: readonly string[]): PublicModel;
}

/** Signs in, creates the shared tenant and detects the deployment's features. */
export async function openDeployment(
  address: DeploymentAddress,
  faultInjection?: FaultInjection,
): Promise<Deployment> {
  const admin = await signIn(address.dashboardUrl, address.adminEmail, address.adminPassword);
  const shared = await createTenant(admin);
  const response = await fetch(`${address.baseUrl}/models`, {
    headers: { authorization: `Bearer ${shared.apiKey}` },
  });
  const { data } = JSON.parse(await response.text()) as { data: PublicModel[] };
  const serves = (model: PublicModel, format: keyof typeof publicFormats) =>
    (model.endpoints ?? [publicFormats.chat.path]).includes(publicFormats[format].path);
  const models = data.filter((model) => serves(model, 'chat'));
  const embeddingModels = data.filter((model) => serves(model, 'embeddings'));
  const emulated = await usesEmulator(address.baseUrl, shared.apiKey, models[0]?.id);

  const needs: Readonly<Record<Need, boolean>> = {
    emulator: emulated,
    faultInjection: faultInjection !== undefined,
    dialects: otherDialects.every((dialect) =>
      models.some(({ id }) => id.startsWith(modelPrefixOf(dialect))),
    ),
    ...(Object.fromEntries(
      otherFormats.map((format) => [format, data.some((model) => serves(model, format))]),
    ) as Record<OtherFormat, boolean>),
  };
  return {
    ...address,
    admin,
    models,
    embeddingModels,
    shared,
    faultInjection,
    has: (need) => needs[need],
    tenant: (options) => createTenant(admin, options),
    model: modelFinder(models),
  };
}

export function modelFinder(models: readonly PublicModel[]): Deployment['model'] {
  return (having = [], lacking = []) => {
    const found = models.find(
      ({ capabilities }) =>
        having.every((one) => capabilities.includes(one)) &&
        (having.includes('reasoning') || !capabilities.includes('reasoning')) &&
        !lacking.some((one) => capabilities.includes(one)),
    );
    if (!found) throw new Error(`no model with [${having.join()}] and without [${lacking.join()}]`);
    return found;
  };
}

/** The emulator rejects unknown directives; a real model ignores them. */
async function usesEmulator(baseUrl: string, apiKey: string, model?: string): Promise<boolean> {
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
