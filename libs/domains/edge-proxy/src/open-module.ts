import { newId, systemClock as clock } from '@gateway/runtime';
import { MAX_TOKENIZED_LENGTH, type Tokenizer } from '@gateway/tokenizer';
import {
  createKeyDirectory,
  createRpcServices,
  type KeyDirectoryPorts,
  type RpcServicesPorts,
} from './adapters/rpc';
import { createBodyThreads, createPageThreads } from './adapters/worker-threads';
import { edgeProxySettingsOf, type EdgeProxyEnvironment } from './service/environment';
import { createEdgeProxyModule, type EdgeProxyModule } from './service/module';
import type { EdgeProxySettings } from './service/settings';

export interface OpenEdgeProxyOptions extends Omit<RpcServicesPorts, 'clock'> {
  readonly auth: KeyDirectoryPorts['auth'];
  readonly config: EdgeProxyEnvironment & {
    readonly GATEWAY_HOST: string;
    readonly GATEWAY_SHUTDOWN_GRACE_MS: number;
  };
  /** Overrides the values derived from `config`. */
  readonly settings?: Partial<EdgeProxySettings>;
  readonly tokenizer: Tokenizer;
}

/** The module with its adapters, for each app that runs it. */
export function openEdgeProxyModule(options: OpenEdgeProxyOptions): EdgeProxyModule {
  const { auth, config, settings, tokenizer, ...clients } = options;
  const { log, metrics } = clients;
  return createEdgeProxyModule({
    ...createRpcServices({ ...clients, clock }),
    keyDirectory: createKeyDirectory({ auth, edgeId: newId('edge'), clock, log, metrics }),
    tokenCounter: tokenizer.openCounter(),
    bodyThreads: createBodyThreads({
      maxBodyBytes: config.GATEWAY_MAX_BODY_BYTES,
      maxTextLength: MAX_TOKENIZED_LENGTH,
    }),
    pageThreads: createPageThreads(),
    clock,
    log,
    metrics,
    settings: {
      ...edgeProxySettingsOf(config),
      host: config.GATEWAY_HOST,
      stopGraceMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
      ...settings,
    },
  });
}
