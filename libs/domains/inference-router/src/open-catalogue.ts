import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createSecretCipher } from '@gateway/secrets';
import { systemClock as clock, type Logger } from '@gateway/runtime';
import type { Pool } from 'pg';
import { readSecretsFrom } from './adapters/node/secrets';
import { createPostgresCatalogueStore } from './adapters/postgres/catalogue-store';
import { createDatabaseCatalogue } from './adapters/postgres/database-catalogue';
import { importModelsFile } from './adapters/yaml/import-models-file';
import { createCatalogueTexts } from './adapters/yaml/catalogue-texts';
import { createFileCatalogue } from './adapters/yaml/file-catalogue';
import { EMULATOR_VARIABLE } from './adapters/yaml/parse-catalogue';
import type { ManagedCatalogue } from './core/catalogue/managed-catalogue';
import type { CatalogueSource } from './core/ports';
import type { InferenceRouterEnvironment } from './service/environment';

export interface OpenCatalogueOptions {
  readonly config: Pick<
    InferenceRouterEnvironment,
    'GATEWAY_CATALOGUE' | 'GATEWAY_MODELS_FILE' | 'GATEWAY_CLOUD_IDENTITY_HOSTS'
  > & {
    readonly environment: Parameters<typeof readSecretsFrom>[0];
  };
  readonly emulatorUrl: string | undefined;
  readonly pool: Pool;
  readonly encryptionKeys: readonly string[] | undefined;
  readonly processName?: string;
  readonly log: Logger;
}

export interface OpenedCatalogue {
  readonly catalogue: CatalogueSource;
  /** Undefined when the catalogue is a file. */
  readonly managedCatalogue: ManagedCatalogue | undefined;
}

/** The catalogue of the models file, or that of the database. */
export function openCatalogue({
  config,
  emulatorUrl,
  pool,
  encryptionKeys,
  processName = 'inference-router',
  log,
}: OpenCatalogueOptions): OpenedCatalogue {
  const file = path.resolve(config.GATEWAY_MODELS_FILE);
  const variables: Readonly<Record<string, string>> =
    emulatorUrl === undefined ? {} : { [EMULATOR_VARIABLE]: emulatorUrl };
  const secrets = readSecretsFrom(config.environment);
  if (config.GATEWAY_CATALOGUE === 'file') {
    const catalogue = createFileCatalogue({ path: file, variables, secrets, clock, log });
    return { catalogue, managedCatalogue: undefined };
  }
  if (!encryptionKeys) throw new Error('GATEWAY_CATALOGUE=database requires GATEWAY_SECRETS_KEY');
  const store = createPostgresCatalogueStore({ pool, cipher: createSecretCipher(encryptionKeys), log });
  const texts = createCatalogueTexts({ variables, identityHosts: config.GATEWAY_CLOUD_IDENTITY_HOSTS });
  const catalogue = createDatabaseCatalogue({
    store,
    texts,
    processName,
    clock,
    log,
    async prepare() {
      await store.reencryptSecrets();
      if (existsSync(file))
        await importModelsFile(readFileSync(file, 'utf8'), { store, texts, secrets, clock, log });
    },
  });
  const loadPriceData = async () => {
    const { findPriceData, listPriceData } = await import('./adapters/genai-prices');
    return { find: findPriceData, list: listPriceData };
  };
  return { catalogue, managedCatalogue: { store, texts, loadPriceData } };
}
