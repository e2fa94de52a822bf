import { createAuditEntries } from '@gateway/audit';
import path from 'node:path';
import type { Tokenizer } from '@gateway/tokenizer';
import { systemClock as clock } from '@gateway/runtime';
import type { Pool } from 'pg';
import { createFileSpool } from './adapters/file-system/file-spool';
import { readSecretsFrom } from './adapters/node/secrets';
import { openCredential } from './adapters/credentials/open-credential';
import { nodeTimers } from './adapters/node/timers';
import { createOpossumBreakers } from './adapters/opossum/circuit-breakers';
import { createPostgresSwitchStore } from './adapters/postgres/switch-store';
import { INFERENCE_ROUTER_SCHEMA } from './adapters/postgres/sql/schema';
import { createEncodeThreads } from './adapters/worker-threads/encode-threads';
import { createUndiciTransport } from './adapters/undici/undici-transport';
import { createFileCatalogue, type FileCatalogue } from './adapters/yaml/file-catalogue';
import { EMULATOR_VARIABLE } from './adapters/yaml/parse-catalogue';
import type { InferenceRouterEnvironment } from './service/environment';
import { createBreakerObserver, createCredentialObserver } from './service/metrics';
import { createInferenceRouterModule, type InferenceRouterPorts } from './service/module';

/** Long responses in the counting queue. Further ones are estimated, so that each generation is recorded. */
const MAX_QUEUED_COUNTS = 1_000;

export interface OpenInferenceRouterOptions extends Pick<
  InferenceRouterPorts,
  'events' | 'ledger' | 'processName' | 'log' | 'metrics'
> {
  readonly config: Pick<InferenceRouterEnvironment, 'GATEWAY_MODELS_FILE'> & {
    readonly GATEWAY_SHUTDOWN_GRACE_MS: number;
    /** The environment with the providers' keys. */
    readonly environment: Parameters<typeof readSecretsFrom>[0];
  };
  /** The value of `${MODEL_EMULATOR_URL}` in the models file. */
  readonly emulatorUrl: string | undefined;
  /** Connects to the migrated schema `inference_router`. */
  readonly pool: Pool;
  /** The folder of the spool. */
  readonly stateDirectory: string;
  readonly tokenizer: Tokenizer;
}

/** Creates the module with its adapters and its catalogue, for every app that runs it. */
export function openInferenceRouterModule(options: OpenInferenceRouterOptions) {
  const { config, emulatorUrl, pool, stateDirectory, tokenizer, ...ports } = options;
  const { log, metrics } = ports;
  const catalogue: FileCatalogue = createFileCatalogue({
    path: path.resolve(config.GATEWAY_MODELS_FILE),
    variables: emulatorUrl === undefined ? {} : { [EMULATOR_VARIABLE]: emulatorUrl },
    secrets: readSecretsFrom(config.environment),
    clock,
    log,
  });
  const credentials = createCredentialObserver(metrics, log);
  const module = createInferenceRouterModule({
    ...ports,
    catalogue,
    transport: createUndiciTransport({
      openCredential: ({ name, credential }) =>
        openCredential(credential, {
          nowMs: Date.now,
          timers: nodeTimers,
          onRefreshFailed: (reason) => credentials.refreshFailed(name, reason),
        }),
    }),
    encodeThreads: createEncodeThreads(),
    breakers: createOpossumBreakers({ clock, observer: createBreakerObserver(metrics, log) }),
    drainStore: createPostgresSwitchStore(pool, 'drained_targets'),
    disabledModelStore: createPostgresSwitchStore(pool, 'disabled_models'),
    auditEntries: createAuditEntries(pool, INFERENCE_ROUTER_SCHEMA),
    tokenCounter: tokenizer.openCounter({ maxWaiting: MAX_QUEUED_COUNTS }),
    spool: createFileSpool({ directory: path.join(stateDirectory, 'spool') }),
    clock,
    timers: nodeTimers,
    random: Math.random,
    drainMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
  });
  return { module, catalogue };
}
