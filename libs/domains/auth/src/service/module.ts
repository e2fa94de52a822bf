import type { Clock } from '@gateway/base';
import { AuthAdminDefinition, AuthDefinition } from '@gateway/contracts/auth';
import { noCapacityWhileAway } from '@gateway/database';
import { bindService } from '@gateway/rpc';
import { type GatewayModule } from '@gateway/module';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';
import { DEFAULT_ORGANIZATION_LIMITS } from '../core/organizations/limits';
import type { AuthPorts, AuthSettings, IdSource } from '../core/ports';
import { createAuthAdminHandlers } from './handlers/auth-admin';
import { createAuthHandlers } from './handlers/auth';
import { createAuthMetrics } from './metrics';

export const DEFAULT_AUTH_SETTINGS: AuthSettings = {
  leaseMs: 3_000,
  sessionLifetimeMs: 12 * 60 * 60_000,
  sessionIdleMs: 2 * 60 * 60_000,
  defaultOrganizationLimits: DEFAULT_ORGANIZATION_LIMITS,
};

export interface AuthModulePorts {
  /** What `createAuthAdapters` makes; the module starts and stops it. */
  readonly adapters: Omit<AuthPorts, 'clock' | 'newId' | 'settings'> & {
    start(): Promise<void>;
    stop(): Promise<void>;
  };
  readonly clock: Clock;
  readonly newId: IdSource;
  readonly log: Logger;
  readonly metrics: Registry;
  /** What is absent is as in DEFAULT_AUTH_SETTINGS. */
  readonly settings?: Partial<AuthSettings>;
}

/** Organizations, keys, members, sessions and the audit log. Serves Auth to edges and AuthAdmin to the dashboard's API. */
export function createAuthModule(options: AuthModulePorts): GatewayModule {
  const { adapters, clock, newId, log } = options;
  const settings = Object.freeze({ ...DEFAULT_AUTH_SETTINGS, ...options.settings });
  const ports: AuthPorts = { ...adapters, clock, newId, settings };
  const metrics = createAuthMetrics(options.metrics);
  return {
    name: 'auth',
    services: [
      bindService(AuthDefinition, noCapacityWhileAway(createAuthHandlers(ports, metrics))),
      bindService(AuthAdminDefinition, noCapacityWhileAway(createAuthAdminHandlers(ports, metrics))),
    ],
    consumers: [],
    async start() {
      await adapters.start();
      log.info({ leaseMs: settings.leaseMs }, 'auth is ready');
    },
    async stop() {
      await adapters.stop();
    },
  };
}
