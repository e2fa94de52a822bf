import { hostname } from 'node:os';
import { openAuthModule } from '@gateway/auth';
import { AuthAdminDefinition, AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerAdminDefinition, BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { DeadLettersDefinition } from '@gateway/contracts/events';
import { GenerationQueryDefinition, GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import {
  InferenceRouterAdminDefinition,
  InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { openDashboardApi } from '@gateway/dashboard-api';
import { type EdgeProxyModule, openEdgeProxyModule } from '@gateway/edge-proxy';
import type { PostgresEventLog } from '@gateway/events';
import { type FileCatalogue, openInferenceRouterModule } from '@gateway/inference-router';
import { openMailer } from '@gateway/mail';
import { createMemoryLimitStore, createRateLimitModule } from '@gateway/rate-limit';
import type { GatewayModule } from '@gateway/module';
import {
  type BoundService,
  createClient,
  createInProcessTransport,
  type MessageTransport,
} from '@gateway/rpc';
import { systemClock as clock, type Logger, type Registry } from '@gateway/runtime';
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
  /** The model emulator's URL with /v1, if a model uses it. */
  readonly emulatorUrl: string | undefined;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Whether calls between modules freeze their messages; defaults to the transport's default. */
  readonly freezesMessages?: boolean;
}

/** The whole system on one page: every module with its adapters, and their calls. */
export function createModules(deps: ModuleDeps) {
  const { config, metrics, log } = deps;
  const stores = createStores(deps);
  const tokenizer = createTokenizer({ metrics });
  const { catalogue, inferenceRouter, routerClient } = createRouter({
    deps,
    ledger: stores.clients.billingLedger,
    tokenizer,
  });
  const edge: EdgeProxyModule = createEdge({
    config,
    clients: stores.clients,
    routerClient,
    tokenizer,
    dashboardPort: () => dashboardApi.port(),
    log,
    metrics,
  });
  const dashboardApi = createDashboard({ deps, stores, inferenceRouter, routerClient, tokenizer, edge });

  return {
    clients: stores.clients,
    catalogue,
    tokenizer,
    edge,
    dashboardApi,
    /** Dependencies first; started in this order and stopped in reverse. */
    inOrder: [...stores.inOrder, inferenceRouter, edge, dashboardApi],
  };
}

export type Modules = ReturnType<typeof createModules>;

/** Modules with state, one of each. */
function createStores(deps: ModuleDeps) {
  const { config, pools, eventLog, log, metrics } = deps;
  const mailer = openMailer(config);
  const auth = openAuthModule({
    config,
    pool: pools.auth,
    mailer,
    encryptionKeys: config.GATEWAY_SECRETS_KEY ?? [ensureSecretsKey(config.stateDirectory)],
    log,
    metrics,
  });
  const rateLimit = createRateLimitModule({ store: createMemoryLimitStore({ clock }), metrics });
  const { billingLedger, statements } = openLedgerModules({
    config,
    pool: pools.billingLedger,
    appender: eventLog,
    events: eventLog,
    mailer,
    log,
    metrics,
  });
  const usageAggregator = openUsageAggregatorModule({
    config,
    pool: pools.usage,
    events: eventLog,
    log,
    metrics,
  });
  const generationQuery = openGenerationQueryModule({ pool: pools.usage });
  const services = [auth, rateLimit, billingLedger, statements, generationQuery].flatMap(
    (module) => module.services,
  );
  return {
    clients: createClients(transportTo(services, deps)),
    /** Each serves the dead letters of its own group, under the same service name. */
    withDeadLetters: [billingLedger, usageAggregator],
    inOrder: [auth, rateLimit, billingLedger, statements, usageAggregator, generationQuery],
  };
}

/** Clients of the services that the edge and the dashboard call. */
function createClients(stores: MessageTransport) {
  return {
    auth: createClient(AuthDefinition, stores),
    authAdmin: createClient(AuthAdminDefinition, stores),
    rateLimit: createClient(RateLimitDefinition, stores),
    billingLedger: createClient(BillingLedgerDefinition, stores),
    generationQuery: createClient(GenerationQueryDefinition, stores),
    generationReports: createClient(GenerationReportsDefinition, stores),
    ledgerAdmin: createClient(BillingLedgerAdminDefinition, stores),
  };
}

type Clients = ReturnType<typeof createClients>;

interface RouterDeps {
  readonly deps: ModuleDeps;
  readonly ledger: Clients['billingLedger'];
  readonly tokenizer: Tokenizer;
}

function createRouter({ deps, ledger, tokenizer }: RouterDeps) {
  const { config, emulatorUrl, pools, eventLog, log, metrics } = deps;
  const { module: inferenceRouter, catalogue } = openInferenceRouterModule({
    config,
    emulatorUrl,
    pool: pools.inferenceRouter,
    stateDirectory: config.stateDirectory,
    tokenizer,
    processName: `gateway on ${hostname()}`,
    events: eventLog,
    ledger,
    log,
    metrics,
  });
  const routerClient = createClient(InferenceRouterDefinition, transportTo(inferenceRouter.services, deps));
  return { catalogue, inferenceRouter, routerClient };
}

interface EdgeDeps extends Pick<ModuleDeps, 'config' | 'log' | 'metrics'> {
  readonly clients: Clients;
  readonly routerClient: ReturnType<typeof createRouter>['routerClient'];
  readonly tokenizer: Tokenizer;
  /** The dashboard's port, available after its start. */
  readonly dashboardPort: () => number;
}

function createEdge({ clients, routerClient, dashboardPort, ...options }: EdgeDeps) {
  return openEdgeProxyModule({
    ...options,
    ...clients,
    inferenceRouter: routerClient,
    settings: {
      isDashboardOrigin: (origin) => dashboardOrigins(options.config, dashboardPort()).includes(origin),
    },
  });
}

interface DashboardDeps {
  readonly deps: ModuleDeps;
  readonly stores: ReturnType<typeof createStores>;
  readonly inferenceRouter: GatewayModule;
  readonly routerClient: ReturnType<typeof createRouter>['routerClient'];
  readonly tokenizer: Tokenizer;
  readonly edge: EdgeProxyModule;
}

function createDashboard({ deps, stores, inferenceRouter, routerClient, tokenizer, edge }: DashboardDeps) {
  const { config, log, metrics } = deps;
  const { clients } = stores;
  return openDashboardApi({
    config,
    authAdmin: clients.authAdmin,
    ledger: clients.billingLedger,
    generationReports: clients.generationReports,
    ledgerAdmin: clients.ledgerAdmin,
    inferenceRouter: routerClient,
    routerAdmin: createClient(InferenceRouterAdminDefinition, transportTo(inferenceRouter.services, deps)),
    deadLetters: new Map(
      stores.withDeadLetters.map(({ name, services }) => [
        name,
        createClient(DeadLettersDefinition, transportTo(services, deps)),
      ]),
    ),
    tokenizer,
    log,
    metrics,
    publicApiUrl: () => `http://${config.GATEWAY_HOST}:${edge.port()}/v1`,
  });
}

function transportTo(
  services: readonly BoundService[],
  { log, freezesMessages }: Pick<ModuleDeps, 'log' | 'freezesMessages'>,
): MessageTransport {
  return createInProcessTransport(services, {
    log,
    ...(freezesMessages !== undefined && { freezesMessages }),
  });
}

/** Only the vocabularies of enabled models are loaded, to save memory. */
export function encodingsInUse({ models }: ReturnType<FileCatalogue['current']>): readonly string[] {
  const enabled = [...models.values()].filter(({ disabled }) => !disabled);
  return [...new Set(enabled.map(({ tokenCounting }) => tokenCounting.encoding))];
}

/** Origins of the dashboard, from which its playground calls the public API. */
function dashboardOrigins(
  { GATEWAY_DASHBOARD_ORIGIN: origin, GATEWAY_HOST: host }: Config,
  port: number,
): readonly string[] {
  if (origin !== undefined) return [origin];
  return ['localhost', host].map((name) => `http://${name}:${port}`);
}
