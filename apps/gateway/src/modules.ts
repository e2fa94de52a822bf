import { hostname } from 'node:os';
import path from 'node:path';
import { authSettingsOf, createAuthAdapters, createAuthModule, oidcSettingsOf } from '@gateway/auth';
import {
  billingLedgerSettingsOf,
  createBillingLedgerAdapters,
  createBillingLedgerModule,
} from '@gateway/billing-ledger';
import { AuthAdminDefinition, AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerAdminDefinition, BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { DeadLettersDefinition } from '@gateway/contracts/events';
import { GenerationQueryDefinition, GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import {
  InferenceRouterAdminDefinition,
  InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import {
  builtDocuments,
  builtWebApp,
  createDashboardApi,
  createEstimator,
  dashboardApiSettingsOf,
  readVersion,
} from '@gateway/dashboard-api';
import {
  createEdgeProxyModule,
  createKeyDirectory,
  edgeProxySettingsOf,
  openBodyThreads,
} from '@gateway/edge-proxy';
import { type PostgresEventLog } from '@gateway/events';
import {
  createBreakerObserver,
  createFileCatalogue,
  createFileSpool,
  createInferenceRouterModule,
  createOpenAiTransport,
  createOpossumBreakers,
  createPostgresDrainStore,
  EMULATOR_VARIABLE,
  nodeTimers,
  readSecretsFrom,
} from '@gateway/inference-router';
import { openMailer } from '@gateway/mail';
import { createMemoryLimitStore, createRateLimitModule } from '@gateway/rate-limit';
import { type BoundService, createClient, createInProcessTransport } from '@gateway/rpc';
import { newId, systemClock as clock, type Logger, type Registry } from '@gateway/runtime';
import { createTokenizer, MAX_TOKENIZED_LENGTH } from '@gateway/tokenizer';
import {
  createGenerationQueryModule,
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createPostgresUsageReconciler,
  createUsageAggregatorModule,
} from '@gateway/usage';
import { type Config } from './config';
import { type Pools } from './database';
import { ensureSecretsKey } from './secrets-key';

export interface ModuleParts {
  readonly config: Config;
  readonly pools: Pools;
  readonly eventLog: PostgresEventLog;
  /** The model emulator's address with /v1, when a model uses it. */
  readonly emulatorUrl: string | undefined;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Of the calls between modules; as their transport has it when absent. */
  readonly freezesMessages?: boolean;
}

/** Long prompts that wait to be counted; the next is refused with `no_capacity`. */
const MAX_WAITING_REQUEST_COUNTS = 64;
/** Long answers that wait to be counted; the next is estimated, since its end must be recorded. */
const MAX_WAITING_ANSWER_COUNTS = 1_000;

/** The whole system on one page: every module with its adapters, and who calls whom. */
export function createModules(parts: ModuleParts) {
  const { config, pools, eventLog, emulatorUrl, log, metrics, freezesMessages } = parts;
  const transportTo = (services: readonly BoundService[]) =>
    createInProcessTransport(services, { log, ...(freezesMessages !== undefined && { freezesMessages }) });
  const mailer = openMailer(config);
  const auth = createAuthModule({
    adapters: createAuthAdapters({
      pool: pools.auth,
      log,
      mailer,
      oidc: oidcSettingsOf(config),
      sealingKeys: config.GATEWAY_SECRETS_KEY ?? [ensureSecretsKey(config.stateDirectory)],
    }),
    clock,
    newId,
    log,
    metrics,
    settings: authSettingsOf(config),
  });
  const rateLimit = createRateLimitModule({ store: createMemoryLimitStore({ clock }), metrics });
  const billingLedger = createBillingLedgerModule({
    ...createBillingLedgerAdapters({
      pool: pools.billingLedger,
      appender: eventLog,
      clock,
      newId,
      mailer,
      settings: billingLedgerSettingsOf(config),
    }),
    events: eventLog,
    clock,
    log,
    metrics,
  });
  const usageAggregator = createUsageAggregatorModule({
    store: createPostgresSettlementStore(pools.usage),
    reconciler: createPostgresUsageReconciler({ pool: pools.usage, clock }),
    events: eventLog,
    clock,
    metrics,
    log,
    retentionDays: config.GATEWAY_GENERATION_RETENTION_DAYS,
  });
  const generationQuery = createGenerationQueryModule({ reader: createPostgresUsageReader(pools.usage) });

  const stores = transportTo(
    [auth, rateLimit, billingLedger, generationQuery].flatMap(({ services }) => services),
  );
  const clients = {
    auth: createClient(AuthDefinition, stores),
    authAdmin: createClient(AuthAdminDefinition, stores),
    rateLimit: createClient(RateLimitDefinition, stores),
    billingLedger: createClient(BillingLedgerDefinition, stores),
    generationQuery: createClient(GenerationQueryDefinition, stores),
    ledgerAdmin: createClient(BillingLedgerAdminDefinition, stores),
  };

  const catalogue = createFileCatalogue({
    path: path.resolve(config.GATEWAY_MODELS_FILE),
    variables: emulatorUrl === undefined ? {} : { [EMULATOR_VARIABLE]: emulatorUrl },
    secrets: readSecretsFrom(config.environment),
    clock,
    log,
  });
  const tokenizer = createTokenizer({ metrics });
  const inferenceRouter = createInferenceRouterModule({
    catalogue,
    transport: createOpenAiTransport(),
    breakers: createOpossumBreakers({ clock, observer: createBreakerObserver(metrics, log) }),
    drainStore: createPostgresDrainStore(pools.inferenceRouter),
    processName: `gateway on ${hostname()}`,
    tokenCounter: tokenizer.openCounter({ maxWaiting: MAX_WAITING_ANSWER_COUNTS }),
    spool: createFileSpool({ directory: path.join(config.stateDirectory, 'spool') }),
    events: eventLog,
    ledger: clients.billingLedger,
    clock,
    timers: nodeTimers,
    random: Math.random,
    log,
    metrics,
    drainMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
  });

  const routerClient = createClient(InferenceRouterDefinition, transportTo(inferenceRouter.services));
  const edgeProxy = createEdgeProxyModule({
    keyDirectory: createKeyDirectory({
      auth: clients.auth,
      edgeId: newId('edge'),
      clock,
      log,
      metrics,
    }),
    tokenCounter: tokenizer.openCounter({ maxWaiting: MAX_WAITING_REQUEST_COUNTS }),
    bodyThreads: openBodyThreads({
      maxBodyBytes: config.GATEWAY_MAX_BODY_BYTES,
      maxTextLength: MAX_TOKENIZED_LENGTH,
    }),
    ...clients,
    inferenceRouter: routerClient,
    clock,
    log,
    metrics,
    settings: {
      ...edgeProxySettingsOf(config),
      host: config.GATEWAY_HOST,
      isDashboardOrigin: (origin) => dashboardOrigins(config, dashboardApi.port()).includes(origin),
      stopGraceMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
    },
  });
  const dashboardApi = createDashboardApi({
    authAdmin: clients.authAdmin,
    ledger: clients.billingLedger,
    generationReports: createClient(GenerationReportsDefinition, stores),
    ledgerAdmin: clients.ledgerAdmin,
    inferenceRouter: routerClient,
    routerAdmin: createClient(InferenceRouterAdminDefinition, transportTo(inferenceRouter.services)),
    estimateRequest: createEstimator(tokenizer.openCounter({ maxWaiting: MAX_WAITING_REQUEST_COUNTS })),
    // Each serves those of its own group, so that the name of the service is taken twice.
    deadLetters: new Map(
      [billingLedger, usageAggregator].map(({ name, services }) => [
        name,
        createClient(DeadLettersDefinition, transportTo(services)),
      ]),
    ),
    newId,
    clock,
    log,
    metrics,
    documents: builtDocuments(),
    webApp: builtWebApp(),
    settings: {
      ...dashboardApiSettingsOf(config),
      host: config.GATEWAY_HOST,
      version: readVersion(),
      publicApiUrl: () => config.GATEWAY_PUBLIC_URL ?? `http://${config.GATEWAY_HOST}:${edgeProxy.port()}/v1`,
    },
  });

  return {
    clients,
    catalogue,
    tokenizer,
    edgeProxy,
    dashboardApi,
    /** Those that others stand on come first: started in this order, stopped in reverse. */
    inOrder: [
      auth,
      rateLimit,
      billingLedger,
      usageAggregator,
      generationQuery,
      inferenceRouter,
      edgeProxy,
      dashboardApi,
    ],
  };
}

/** Where the dashboard's pages come from: its playground calls the public API from there. */
function dashboardOrigins(
  { GATEWAY_DASHBOARD_ORIGIN: origin, GATEWAY_HOST: host }: Config,
  port: number,
): readonly string[] {
  if (origin !== undefined) return [origin];
  return ['localhost', host].map((name) => `http://${name}:${port}`);
}

export type Modules = ReturnType<typeof createModules>;
