import { serveEndpoints, type Implementation } from '@gateway/admin-calls';
import { createAuditService, type AuditEntries } from '@gateway/audit';
import type { IdSource } from '@gateway/auth-shared';
import type { Clock } from '@gateway/base';
import { AuthAdminDefinition, AuthDefinition, BudgetsDefinition } from '@gateway/contracts/auth';
import { isDatabaseUnavailable } from '@gateway/database';
import { handlersUnavailableAsNoCapacity } from '@gateway/errors';
import type { GatewayModule } from '@gateway/module';
import {
  createManagementTokenEndpoints,
  createPeopleEndpoints,
  createAccountEndpoints,
  createEnsureMemberHandler,
  createPeopleMetrics,
  createSessionEndpoints,
  createSignInEndpoints,
  DEFAULT_PEOPLE_SETTINGS,
  type PeoplePorts,
  type PeopleSettings,
  withCurrentAccess,
} from '@gateway/people';
import { bindService } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';
import { DEFAULT_ORGANIZATION_LIMITS } from '../core/organizations/limits';
import type { AuthPorts, AuthSettings } from '../core/ports';
import { createAuthAdminHandlers } from './handlers/auth-admin';
import { createAuthHandlers } from './handlers/auth';
import { createBudgetHandlers } from './handlers/budgets';
import { createAuthMetrics } from './metrics';
import { createKeyEndpoints } from './key-endpoints';
import { createOrganizationEndpoints } from './organization-endpoints';
import { createProjectEndpoints } from './project-endpoints';

/** Settings of this library and of `people`: the auth service runs both. */
export type AuthServiceSettings = AuthSettings & PeopleSettings;

export const DEFAULT_AUTH_SETTINGS: AuthServiceSettings = {
  ...DEFAULT_PEOPLE_SETTINGS,
  leaseMs: 3_000,
  defaultOrganizationLimits: DEFAULT_ORGANIZATION_LIMITS,
};

export interface AuthModulePorts {
  /** From `createAuthAdapters`; the module starts and stops them. */
  readonly adapters: Omit<AuthPorts, 'clock' | 'newId' | 'settings'> & {
    readonly people: Omit<PeoplePorts, 'clock' | 'newId' | 'settings' | 'organizations' | 'leases' | 'feed'>;
    readonly audit: AuditEntries;
    start(): Promise<void>;
    stop(): Promise<void>;
  };
  readonly clock: Clock;
  readonly newId: IdSource;
  readonly log: Logger;
  readonly metrics: Registry;
  /** The endpoints of the service's other libraries. */
  readonly endpoints: readonly Implementation[];
  /** Absent settings default to DEFAULT_AUTH_SETTINGS. */
  readonly settings?: Partial<AuthServiceSettings>;
}

/**
 * Organizations, keys, members, sessions and the audit log. Serves Auth to edges, AuthAdmin to the demo, and the
 * endpoints that auth owns.
 */
export function createAuthModule(options: AuthModulePorts): GatewayModule {
  const { adapters, clock, newId, log } = options;
  const settings = Object.freeze({ ...DEFAULT_AUTH_SETTINGS, ...options.settings });
  const ports: AuthPorts = { ...adapters, clock, newId, settings };
  const { organizations, leases, feed } = adapters;
  const people: PeoplePorts = { ...adapters.people, organizations, leases, feed, clock, newId, settings };
  const metrics = createAuthMetrics(options.metrics);
  const authAdmin = {
    ...createEnsureMemberHandler(people),
    ...createAuthAdminHandlers(ports, people),
  };
  const endpoints = [
    ...createOrganizationEndpoints(ports, people, metrics),
    ...createProjectEndpoints(ports, metrics),
    ...createKeyEndpoints(ports, people, metrics),
    ...createPeopleEndpoints(people),
    ...createManagementTokenEndpoints(people),
    ...createSessionEndpoints(people),
    ...createSignInEndpoints(people, createPeopleMetrics(options.metrics)),
    ...createAccountEndpoints(people),
    ...options.endpoints,
  ];
  return {
    name: 'auth',
    services: [
      bindService(
        AuthDefinition,
        handlersUnavailableAsNoCapacity(createAuthHandlers(ports, metrics), isDatabaseUnavailable),
      ),
      bindService(
        BudgetsDefinition,
        handlersUnavailableAsNoCapacity(createBudgetHandlers(ports), isDatabaseUnavailable),
      ),
      bindService(AuthAdminDefinition, handlersUnavailableAsNoCapacity(authAdmin, isDatabaseUnavailable)),
      createAuditService([adapters.audit]),
      serveEndpoints(
        'auth',
        endpoints.map((each) => withCurrentAccess(people, each)),
        { isUnavailable: isDatabaseUnavailable },
      ),
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
