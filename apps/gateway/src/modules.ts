import { hostname } from 'node:os';
import { createActorSigner, createActorVerifier, publicKeysOf, type SigningKeys } from '@gateway/actors';
import { openAuthModule, readTimeZones, type OpenAuthOptions } from '@gateway/auth';
import type { Clock } from '@gateway/base';
import { createAdminClient } from '@gateway/admin-calls';
import { AdminDefinition } from '@gateway/contracts/admin';
import { AuditLogDefinition } from '@gateway/contracts/audit';
import {
  AuthAdminDefinition,
  AuthDefinition,
  BudgetsDefinition,
  IncidentsDefinition,
} from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { ADMIN_CALLERS } from '@gateway/contracts/callers';
import { DeadLettersDefinition } from '@gateway/contracts/events';
import { GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { openDashboardApi } from '@gateway/dashboard-api';
import { type EdgeProxyModule, openEdgeProxyModule } from '@gateway/edge-proxy';
import { tlsFilesOf } from '@gateway/http-server';
import type { PostgresEventLog } from '@gateway/events';
import { openInferenceRouterModule } from '@gateway/inference-router';
import { openMailer } from '@gateway/mail';
import {
  openOperatorNotificationsModule,
  type OpenOperatorNotificationsOptions,
} from '@gateway/operator-notifications';
import { createMemoryLimitStore, createRateLimitModule } from '@gateway/rate-limit';
import type { GatewayModule } from '@gateway/module';
import {
  type BoundService,
  createActingTransport,
  createClient,
  createInProcessTransport,
  type RpcTransport,
} from '@gateway/rpc';
import type { Logger, Registry } from '@gateway/runtime';
import { openLedgerModules } from '@gateway/statements';
import { createTokenizer, type Tokenizer } from '@gateway/tokenizer';
import { openGenerationQueryModule, openUsageAggregatorModule } from '@gateway/usage';
import type { Config } from './config';
import type { Pools } from './database';
import { ensureSecretsKey } from './secrets-key';

export interface ModuleDeps {
  readonly config: Config;
  readonly pools: Pools;
  readonly eventLog: PostgresEventLog;
  /** Follows the clock of the database. */
  readonly clock: Clock;
  /** The model emulator's URL with /v1, if a model uses it. */
  readonly emulatorUrl: string | undefined;
  /** Sign the assertions of persons; created at each start, as they never leave the process. */
  readonly signingKeys: SigningKeys;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Shorter times of operator notifications, in tests. */
  readonly notificationTiming?: OpenOperatorNotificationsOptions['timing'] | undefined;
  /** A cheaper hash of passwords, in tests. */
  readonly scryptCost?: OpenAuthOptions['scryptCost'];
  /** Whether calls between modules freeze their messages; defaults to the transport's default. */
  readonly freezesMessages?: boolean;
}

/** The whole system on one page: every module with its adapters, and their calls. */
export function createModules(deps: ModuleDeps) {
  const { config, metrics, log } = deps;
  const stores = createStores(deps, () => dashboardOrigins(config, dashboardApi.port())[0]);
  const tokenizer = createTokenizer({ metrics });
  const { catalogue, inferenceRouter } = createRouter({ deps, stores, tokenizer });
  const routerClient = createClient(
    InferenceRouterDefinition,
    transportTo(inferenceRouter.services, 'edge-proxy', deps),
  );
  const edgeClients = {
    ...createClients(stores.transportFor('edge-proxy')),
    inferenceRouter: routerClient,
    everyInferenceRouter: () => [routerClient],
    usageAggregator: createClient(
      UsageAggregatorDefinition,
      transportTo(stores.usageAggregator.services, 'edge-proxy', deps),
    ),
  };
  const edge = openEdgeProxyModule({
    config,
    ...edgeClients,
    tokenizer,
    log,
    metrics,
    settings: {
      isDashboardOrigin: (origin) => dashboardOrigins(config, dashboardApi.port()).includes(origin),
    },
  });
  const dashboardApi = createDashboard({ deps, stores, inferenceRouter, tokenizer, edge });

  return {
    edgeClients,
    demoClients: createClients(stores.transportFor('demo')),
    catalogue,
    tokenizer,
    edge,
    dashboardApi,
    /** Auth, to which the incidents of all modules are reported. */
    incidents: createClient(IncidentsDefinition, stores.transportFor('inference-router')),
    /** Dependencies first; started in this order and stopped in reverse. */
    inOrder: [...stores.inOrder, inferenceRouter, edge, dashboardApi],
  };
}

export type Modules = ReturnType<typeof createModules>;

/** Modules with state, one of each. */
function createStores(deps: ModuleDeps, dashboardUrl: () => string | undefined) {
  const { config, pools, eventLog, clock, log, metrics } = deps;
  const mailer = openMailer(config);
  const encryptionKeys = config.GATEWAY_SECRETS_KEY ?? [ensureSecretsKey(config.stateDirectory)];
  const forAuth = { config, pool: pools.auth, clock, mailer, encryptionKeys, log };
  const notifications = openOperatorNotificationsModule({
    ...forAuth,
    timeZones: (emails) => readTimeZones(pools.auth, emails),
    dashboardUrl,
    timing: deps.notificationTiming,
  });
  const { endpoints } = notifications;
  const auth = openAuthModule({ ...forAuth, metrics, endpoints, scryptCost: deps.scryptCost });
  const rateLimit = createRateLimitModule({ store: createMemoryLimitStore({ clock }), metrics });
  const { billingLedger, statements } = openLedgerModules({
    config,
    auth: createClient(BudgetsDefinition, transportTo(auth.services, 'billing-ledger', deps)),
    pool: pools.billingLedger,
    clock,
    appender: eventLog,
    events: eventLog,
    mailer,
    dashboardUrl,
    encryptionKeys,
    log,
    metrics,
  });
  const usageAggregator = openUsageAggregatorModule({
    config,
    pool: pools.usage,
    clock,
    events: eventLog,
    log,
    metrics,
  });
  const generationQuery = openGenerationQueryModule({ pool: pools.usage });
  const services = [auth, notifications, rateLimit, billingLedger, statements, generationQuery]
    .flatMap((module) => module.services)
    // Several modules serve these under the same name.
    .filter(({ definition }) => definition !== AdminDefinition && definition !== AuditLogDefinition);
  return {
    transportFor: (caller: string): RpcTransport => transportTo(services, caller, deps),
    encryptionKeys,
    auth,
    usageAggregator,
    statements,
    generationQuery,
    /** Each serves the dead letters of its own group, under the same service name. */
    withDeadLetters: [billingLedger, usageAggregator],
    withAuditLog: [auth, statements, usageAggregator],
    inOrder: [auth, notifications, rateLimit, billingLedger, statements, usageAggregator, generationQuery],
  };
}

type Stores = ReturnType<typeof createStores>;

/** Clients of the services that the edge and the demo call. */
function createClients(transport: RpcTransport) {
  return {
    auth: createClient(AuthDefinition, transport),
    authAdmin: createClient(AuthAdminDefinition, transport),
    rateLimit: createClient(RateLimitDefinition, transport),
    billingLedger: createClient(BillingLedgerDefinition, transport),
    generationQuery: createClient(GenerationQueryDefinition, transport),
  };
}

interface RouterDeps {
  readonly deps: ModuleDeps;
  readonly stores: Stores;
  readonly tokenizer: Tokenizer;
}

function createRouter({ deps, stores, tokenizer }: RouterDeps) {
  const { config, emulatorUrl, pools, eventLog, log, metrics } = deps;
  const { module: inferenceRouter, catalogue } = openInferenceRouterModule({
    config,
    emulatorUrl,
    pool: pools.inferenceRouter,
    stateDirectory: config.stateDirectory,
    encryptionKeys: stores.encryptionKeys,
    tokenizer,
    processName: `gateway on ${hostname()}`,
    events: eventLog,
    ledger: createClient(BillingLedgerDefinition, stores.transportFor('inference-router')),
    log,
    metrics,
  });
  return { catalogue, inferenceRouter };
}

interface DashboardDeps {
  readonly deps: ModuleDeps;
  readonly stores: Stores;
  readonly inferenceRouter: GatewayModule;
  readonly tokenizer: Tokenizer;
  readonly edge: EdgeProxyModule;
}

function createDashboard({ deps, stores, inferenceRouter, tokenizer, edge }: DashboardDeps) {
  const { config, log, metrics } = deps;
  const router = transportTo(inferenceRouter.services, 'dashboard-api', deps);
  const ownerOf = ({ services }: GatewayModule) =>
    createAdminClient(transportTo(services, 'dashboard-api', deps));
  return openDashboardApi({
    config,
    owners: {
      auth: ownerOf(stores.auth),
      'billing-ledger': ownerOf(stores.statements),
      'generation-query': ownerOf(stores.generationQuery),
      'inference-router': ownerOf(inferenceRouter),
    },
    inferenceRouter: createClient(InferenceRouterDefinition, router),
    auditLogs: [...stores.withAuditLog, inferenceRouter].map(({ services }) =>
      createClient(AuditLogDefinition, transportTo(services, 'dashboard-api', deps)),
    ),
    deadLetters: new Map(
      stores.withDeadLetters.map(({ name, services }) => [
        name,
        createClient(DeadLettersDefinition, transportTo(services, 'dashboard-api', deps)),
      ]),
    ),
    tokenizer,
    log,
    metrics,
    publicApiUrl: () => `${schemeOf(config)}://${config.GATEWAY_HOST}:${edge.port()}/v1`,
  });
}

/** The modules of this process are one service to each other's assertions. */
const AUDIENCE = 'gateway';

/** Calls services of this process, with the rights that their contracts give to one caller. */
function transportTo(
  services: readonly BoundService[],
  caller: string,
  {
    signingKeys,
    clock,
    log,
    freezesMessages,
  }: Pick<ModuleDeps, 'signingKeys' | 'clock' | 'log' | 'freezesMessages'>,
): RpcTransport {
  const publicKeys = publicKeysOf([signingKeys]);
  const transport = createInProcessTransport(services, {
    caller,
    actors: createActorVerifier({ keys: () => publicKeys, audience: AUDIENCE, clock }),
    log,
    ...(freezesMessages !== undefined && { freezesMessages }),
  });
  if (!ADMIN_CALLERS.has(caller)) return transport;
  const signer = createActorSigner({ keys: () => signingKeys, issuer: caller, clock });
  return createActingTransport(transport, { audience: AUDIENCE, signer });
}

/** Only the vocabularies of enabled models are loaded, to save memory. */
export function encodingsInUse({ models }: ReturnType<Modules['catalogue']['current']>): readonly string[] {
  const enabled = [...models.values()].filter(({ disabled }) => !disabled);
  return [...new Set(enabled.map(({ tokenCounting }) => tokenCounting.encoding))];
}

/** Origins of the dashboard, from which its playground calls the public API. */
function dashboardOrigins(config: Config, port: number): readonly string[] {
  const { GATEWAY_DASHBOARD_ORIGIN: origin, GATEWAY_HOST: host } = config;
  if (origin !== undefined) return [origin];
  return ['localhost', host].map((name) => `${schemeOf(config)}://${name}:${port}`);
}

/** The scheme in the URLs of the public API and the dashboard. */
export function schemeOf(config: Config): 'http' | 'https' {
  return tlsFilesOf(config) === undefined ? 'http' : 'https';
}
