import { hostname } from 'node:os';
import path from 'node:path';
import { createAuthAdapters, createAuthModule, createSmtpMailer } from '@gateway/auth';
import {
  createBillingLedgerModule,
  createMailAlertSender,
  createPostgresCreditAlertStore,
  createPostgresLedgerBooks,
  createWebhookSender,
  faultOfWebhookUrl,
  createPostgresClaimStore,
  createPostgresLedgerHistory,
  createPostgresLedgerStore,
  createPostgresReconciler,
} from '@gateway/billing-ledger';
import { DAY_MS } from '@gateway/base';
import { AuthAdminDefinition, AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerAdminDefinition, BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { DeadLettersDefinition } from '@gateway/contracts/events';
import { GenerationQueryDefinition, GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import {
  InferenceRouterAdminDefinition,
  InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { createDashboardApi } from '@gateway/dashboard-api';
import { createEdgeProxyModule, createKeyDirectory } from '@gateway/edge-proxy';
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
} from '@gateway/inference-router';
import { createMemoryLimitStore, createRateLimitModule } from '@gateway/rate-limit';
import { createClient, createInProcessTransport } from '@gateway/rpc';
import { newId, systemClock as clock, type Logger, type Registry } from '@gateway/runtime';
import { createTokenizer } from '@gateway/tokenizer';
import {
  createGenerationQueryModule,
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createUsageAggregatorModule,
} from '@gateway/usage';
import { smtpOf } from './auth-settings';
import { openBodyThreads } from './body-threads';
import { type Config } from './config';
import { type Pools } from './database';
import { createEstimator } from './estimate-request';
import { readEventLag } from './event-lag';
import { readVersion } from './version';
import { modelsFileOf, secretsOf } from './models-file';
import { builtDocuments, builtWebApp } from './documents';

export interface ModuleParts {
  readonly config: Config;
  readonly pools: Pools;
  readonly eventLog: PostgresEventLog;
  /** The model emulator's address with /v1, when a model uses it. */
  readonly emulatorUrl: string | undefined;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** Long prompts that wait to be counted; the next is refused with `no_capacity`. */
const MAX_WAITING_REQUEST_COUNTS = 64;
/** Long answers that wait to be counted; the next is estimated, since its end must be recorded. */
const MAX_WAITING_ANSWER_COUNTS = 1_000;

/**
 * The whole system on one page: every module with its adapters, and who calls
 * whom. Messages are encoded and decoded between them as they are over gRPC.
 */
export function createModules({ config, pools, eventLog, emulatorUrl, log, metrics }: ModuleParts) {
  const auth = createAuthModule({
    adapters: createAuthAdapters({ pool: pools.auth, log, ...smtpOf(config) }),
    clock,
    newId,
    log,
    metrics,
    settings: {
      sessionLifetimeMs: config.GATEWAY_SESSION_LIFETIME_MS,
      sessionIdleMs: config.GATEWAY_SESSION_IDLE_MS,
    },
  });
  const rateLimit = createRateLimitModule({ store: createMemoryLimitStore({ clock }), metrics });
  const { smtp } = smtpOf(config);
  const allowPrivateAddresses = config.GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES;
  const billingLedger = createBillingLedgerModule({
    store: createPostgresLedgerStore({ pool: pools.billingLedger, appender: eventLog, clock }),
    admin: {
      books: createPostgresLedgerBooks({ pool: pools.billingLedger, clock }),
      alerts: createPostgresCreditAlertStore({ pool: pools.billingLedger }),
      alertSenders: [
        createWebhookSender({ clock, allowPrivateAddresses }),
        createMailAlertSender(smtp && createSmtpMailer(smtp)),
      ],
      faultOfWebhookUrl: (url) => faultOfWebhookUrl(url, allowPrivateAddresses),
      newId,
    },
    claims: createPostgresClaimStore({ pool: pools.billingLedger, clock }),
    history: createPostgresLedgerHistory({
      pool: pools.billingLedger,
      clock,
      closedHoldRetentionMs: config.GATEWAY_CLOSED_HOLD_RETENTION_DAYS * DAY_MS,
    }),
    reconciler: createPostgresReconciler({ pool: pools.billingLedger, clock }),
    deadLetters: eventLog.deadLetters,
    clock,
    log,
    metrics,
  });
  const usageAggregator = createUsageAggregatorModule({
    store: createPostgresSettlementStore(pools.usage),
    deadLetters: eventLog.deadLetters,
    clock,
    metrics,
    log,
    retentionDays: config.GATEWAY_GENERATION_RETENTION_DAYS,
  });
  const generationQuery = createGenerationQueryModule({ reader: createPostgresUsageReader(pools.usage) });

  const stores = createInProcessTransport(
    [auth, rateLimit, billingLedger, generationQuery].flatMap(({ services }) => services),
    { log },
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
    path: modelsFileOf(config),
    variables: emulatorUrl === undefined ? {} : { [EMULATOR_VARIABLE]: emulatorUrl },
    secrets: secretsOf(config),
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

  const routerClient = createClient(
    InferenceRouterDefinition,
    createInProcessTransport(inferenceRouter.services, { log }),
  );
  const edgeProxy = createEdgeProxyModule({
    keyDirectory: createKeyDirectory({
      auth: clients.auth,
      edgeId: newId('edge'),
      clock,
      log,
      metrics,
    }),
    tokenCounter: tokenizer.openCounter({ maxWaiting: MAX_WAITING_REQUEST_COUNTS }),
    bodyThreads: openBodyThreads(config.GATEWAY_MAX_BODY_BYTES),
    ...clients,
    inferenceRouter: routerClient,
    clock,
    log,
    metrics,
    settings: {
      host: config.GATEWAY_HOST,
      port: config.GATEWAY_PORT,
      trustedProxies: config.GATEWAY_TRUSTED_PROXIES,
      corsOrigins: [...config.GATEWAY_CORS_ORIGINS, ...dashboardOrigins(config)],
      maxBodyBytes: config.GATEWAY_MAX_BODY_BYTES,
      maxBodyBytesOfAll: config.GATEWAY_MAX_BODY_BYTES_OF_ALL,
      maxFailedAuthenticationsPerMinute: config.GATEWAY_MAX_FAILED_AUTHENTICATIONS_PER_MINUTE,
      maxInvalidRequestsPerMinute: config.GATEWAY_MAX_INVALID_REQUESTS_PER_MINUTE,
      bodyTimeoutMs: config.GATEWAY_BODY_TIMEOUT_MS,
      keepAliveCommentMs: config.GATEWAY_KEEP_ALIVE_COMMENT_MS,
      generationTimeoutMs: config.GATEWAY_GENERATION_TIMEOUT_MS,
      holdMarginMs: config.GATEWAY_HOLD_MARGIN_MS,
      claimLeaseMs: config.GATEWAY_IDEMPOTENCY_LEASE_MS,
      stopGraceMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
    },
  });
  const dashboardApi = createDashboardApi({
    authAdmin: clients.authAdmin,
    ledger: clients.billingLedger,
    generationReports: createClient(GenerationReportsDefinition, stores),
    ledgerAdmin: clients.ledgerAdmin,
    inferenceRouter: routerClient,
    routerAdmin: createClient(
      InferenceRouterAdminDefinition,
      createInProcessTransport(inferenceRouter.services, { log }),
    ),
    readEventLag: () => readEventLag(metrics),
    estimateRequest: createEstimator(tokenizer.openCounter({ maxWaiting: MAX_WAITING_REQUEST_COUNTS })),
    // Each serves those of its own group, so that the name of the service is taken twice.
    deadLetters: new Map(
      [billingLedger, usageAggregator].map(({ name, services }) => [
        name,
        createClient(DeadLettersDefinition, createInProcessTransport(services, { log })),
      ]),
    ),
    newId,
    clock,
    log,
    metrics,
    documents: builtDocuments(),
    webApp: builtWebApp(),
    settings: {
      host: config.GATEWAY_HOST,
      port: config.GATEWAY_DASHBOARD_PORT,
      publicOrigin: config.GATEWAY_DASHBOARD_ORIGIN,
      version: readVersion(),
      publicApiUrl: () => config.GATEWAY_PUBLIC_URL ?? `http://${config.GATEWAY_HOST}:${edgeProxy.port()}/v1`,
      trustedProxies: config.GATEWAY_TRUSTED_PROXIES,
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
function dashboardOrigins({
  GATEWAY_DASHBOARD_ORIGIN: origin,
  GATEWAY_DASHBOARD_PORT: port,
  GATEWAY_HOST: host,
}: Config) {
  if (origin !== undefined) return [origin];
  return ['localhost', host].map((name) => `http://${name}:${port}`);
}

export type Modules = ReturnType<typeof createModules>;
