import type { GatewayModule } from '@gateway/module';
import { oidcSettingsOf, peopleSettingsOf, type PeopleEnvironment } from '@gateway/people';
import { newId } from '@gateway/runtime';
import { createAuthAdapters, type AuthAdapterOptions } from './adapters/create-adapters';
import { createAuthModule, type AuthModulePorts } from './service/module';

export interface OpenAuthOptions
  extends
    Pick<AuthAdapterOptions, 'pool' | 'sessions' | 'mailer' | 'encryptionKeys' | 'scryptCost'>,
    Pick<AuthModulePorts, 'clock' | 'log' | 'metrics' | 'endpoints'> {
  readonly config: PeopleEnvironment & { readonly GATEWAY_DASHBOARD_ORIGIN?: string | undefined };
}

/** Creates the module with its adapters. */
export function openAuthModule({
  config,
  clock,
  log,
  metrics,
  endpoints,
  ...options
}: OpenAuthOptions): GatewayModule {
  return createAuthModule({
    adapters: createAuthAdapters({ ...options, clock, log, oidc: oidcSettingsOf(config) }),
    clock,
    newId,
    log,
    metrics,
    endpoints,
    settings: { ...peopleSettingsOf(config), dashboardOrigin: config.GATEWAY_DASHBOARD_ORIGIN },
  });
}
