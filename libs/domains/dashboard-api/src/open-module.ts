import type { InferenceApi } from '@gateway/public-api';
import { newId, systemClock as clock } from '@gateway/runtime';
import type { Tokenizer } from '@gateway/tokenizer';
import { builtDocuments, builtWebApp } from './adapters/file-system/built-files';
import { readVersion } from './adapters/file-system/version';
import { dashboardApiSettingsOf, type DashboardApiEnvironment } from './service/environment';
import { createEstimator } from './service/estimate-request';
import { createDashboardApi, type DashboardApi } from './service/module';
import type { DashboardApiPorts } from './service/ports';

export interface OpenDashboardApiOptions extends Pick<
  DashboardApiPorts,
  'owners' | 'inferenceRouter' | 'auditLogs' | 'deadLetters' | 'log' | 'metrics'
> {
  readonly config: DashboardApiEnvironment & {
    readonly GATEWAY_HOST: string;
    readonly GATEWAY_ENDPOINTS: readonly InferenceApi[];
  };
  readonly tokenizer: Tokenizer;
  /** The public API's URL, with /v1, unless a setting overrides it. */
  readonly publicApiUrl?: () => string;
}

/** Creates the module with its adapters. */
export function openDashboardApi(options: OpenDashboardApiOptions): DashboardApi {
  const { config, tokenizer, publicApiUrl, ...ports } = options;
  const { GATEWAY_PUBLIC_URL: publicUrl } = config;
  const url = publicUrl === undefined ? publicApiUrl : () => publicUrl;
  return createDashboardApi({
    ...ports,
    estimateRequest: createEstimator(tokenizer.openCounter()),
    newId,
    clock,
    documents: builtDocuments(),
    webApp: builtWebApp(),
    settings: {
      ...dashboardApiSettingsOf(config),
      host: config.GATEWAY_HOST,
      inferenceApis: config.GATEWAY_ENDPOINTS,
      version: readVersion(),
      ...(url && { publicApiUrl: url }),
    },
  });
}
