import { createAuditEntries } from '@gateway/audit';
import path from 'node:path';
import type { Tokenizer } from '@gateway/tokenizer';
import { systemClock as clock } from '@gateway/runtime';
import { createSecretCipher } from '@gateway/secrets';
import type { Pool } from 'pg';
import { createFileSpool } from './adapters/file-system/file-spool';
import type { readSecretsFrom } from './adapters/node/secrets';
import { openCredential } from './adapters/credentials/open-credential';
import { nodeTimers } from './adapters/node/timers';
import { createOpossumBreakers } from './adapters/opossum/circuit-breakers';
import { createPostgresContentStore } from './adapters/postgres/content-store';
import { createPostgresSwitchStore } from './adapters/postgres/switch-store';
import { INFERENCE_ROUTER_SCHEMA } from './adapters/postgres/sql/schema';
import { createEncodeThreads } from './adapters/worker-threads/encode-threads';
import { createUndiciTransport } from './adapters/undici/undici-transport';
import { openCatalogue } from './open-catalogue';
import type { InferenceRouterEnvironment } from './service/environment';
import { createBreakerObserver, createCredentialObserver } from './service/metrics';
import { createInferenceRouterModule, type InferenceRouterPorts } from './service/module';

export interface OpenInferenceRouterOptions extends Pick<
  InferenceRouterPorts,
  'events' | 'ledger' | 'processName' | 'log' | 'metrics'
> {
  readonly config: Pick<
    InferenceRouterEnvironment,
    | 'GATEWAY_CATALOGUE'
    | 'GATEWAY_MODELS_FILE'
    | 'GATEWAY_CLOUD_IDENTITY_HOSTS'
    | 'GATEWAY_CONTENT_LOG_MAX_DAYS'
    | 'GATEWAY_CONTENT_LOG_MAX_BYTES'
    | 'GATEWAY_LOG_PROVIDER_ERROR_TEXTS'
  > & {
    readonly GATEWAY_SHUTDOWN_GRACE_MS: number;
    /** The environment with the providers' keys. */
    readonly environment: Parameters<typeof readSecretsFrom>[0];
  };
  /** The value of `${MODEL_EMULATOR_URL}` in the models file. */
  readonly emulatorUrl: string | undefined;
  /** Connects to the migrated schema `inference_router`. */
  readonly pool: Pool;
  /** Encrypt the stored secrets of a catalogue in the database: the first encrypts, all decrypt. */
  readonly encryptionKeys: readonly string[] | undefined;
  /** The folder of the spool. */
  readonly stateDirectory: string;
  readonly tokenizer: Tokenizer;
}

/** Creates the module with its adapters and its catalogue, for every app that runs it. */
export function openInferenceRouterModule(options: OpenInferenceRouterOptions) {
  const {
    config,
    pool,
    encryptionKeys,
    stateDirectory,
    tokenizer,
    events,
    ledger,
    processName,
    log,
    metrics,
  } = options;
  const { catalogue, managedCatalogue } = openCatalogue(options);
  const maxRetentionDays = config.GATEWAY_CONTENT_LOG_MAX_DAYS;
  const credentials = createCredentialObserver(metrics, log);
  const openTransport = (onRefreshFailed: (provider: string, reason: string) => void) =>
    createUndiciTransport({
      openCredential: ({ name, credential }) =>
        openCredential(credential, {
          nowMs: Date.now,
          timers: nodeTimers,
          onRefreshFailed: (reason) => onRefreshFailed(name, reason),
        }),
    });
  const module = createInferenceRouterModule({
    events,
    ledger,
    log,
    metrics,
    ...(processName !== undefined && { processName }),
    catalogue,
    managedCatalogue,
    transport: openTransport((provider, reason) => credentials.refreshFailed(provider, reason)),
    // The failure of a test is its result.
    openTestTransport: () => openTransport(() => undefined),
    encodeThreads: createEncodeThreads(),
    breakers: createOpossumBreakers({ clock, observer: createBreakerObserver(metrics, log) }),
    drainStore: createPostgresSwitchStore(pool, 'drained_targets'),
    disabledModelStore: createPostgresSwitchStore(pool, 'disabled_models'),
    contentStore:
      encryptionKeys &&
      createPostgresContentStore({
        pool,
        clock,
        maxRetentionDays,
        log,
        cipher: createSecretCipher(encryptionKeys),
      }),
    contentLimits: { maxRetentionDays, maxBytes: config.GATEWAY_CONTENT_LOG_MAX_BYTES },
    auditEntries: createAuditEntries(pool, INFERENCE_ROUTER_SCHEMA),
    tokenCounter: tokenizer.openCounter(),
    spool: createFileSpool({ directory: path.join(stateDirectory, 'spool') }),
    clock,
    timers: nodeTimers,
    random: Math.random,
    logsErrorTexts: config.GATEWAY_LOG_PROVIDER_ERROR_TEXTS,
    drainMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
  });
  return { module, catalogue };
}
