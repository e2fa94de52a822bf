import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import OpenAI from 'openai';
import { createTenant, signIn, type AdminClient, type Tenant } from '@gateway/test-support';
import {
  isClusterDeployment,
  sharedGateway,
  startGateway,
  type GatewayProcess,
  type RunningGateway,
  type StartOptions,
} from './gateway-process';

/** A running gateway on a model emulator, whose counters show what reached the provider. */
export interface SharedTestEnv {
  readonly gateway: RunningGateway;
  readonly emulatorUrl: string;
  readonly admin: AdminClient;
  tenant(options?: Parameters<typeof createTenant>[1]): Promise<Tenant>;
  client(apiKey: string, options?: { maxRetries?: number }): OpenAI;
  stop(): Promise<void>;
}

/** A test environment that no other suite uses, so that it can be stopped. */
export interface TestEnv extends SharedTestEnv {
  readonly gateway: GatewayProcess;
  readonly emulator: ModelEmulator;
  /** Kills the gateway and starts it again on the same state. */
  crashAndRestart(): Promise<void>;
  stop(options?: { keepState?: boolean }): Promise<void>;
}

/**
 * For suites that do not touch data of others: each has its own organizations, keys and money. Starting a cluster takes
 * longer than most suites, and starting a gateway as long as many, so they share the one that `npm test` has started.
 *
 * @param options of an environment that is not shared; only a cluster is shared by suites with options.
 */
export async function joinTestEnv(options: StartOptions = {}): Promise<SharedTestEnv> {
  const isShared = isClusterDeployment() || Object.keys(options).length === 0;
  const shared = isShared ? sharedGateway() : undefined;
  if (shared === undefined) return startTestEnv(options);
  const { gateway } = shared;
  const admin = await signIn(gateway.dashboardUrl, gateway.adminEmail, gateway.adminPassword);
  return {
    ...shared,
    admin,
    tenant: (options) => createTenant(admin, options),
    client: clientOf(gateway),
    stop: () => Promise.resolve(),
  };
}

const clientOf =
  ({ baseUrl }: RunningGateway) =>
  (apiKey: string, { maxRetries = 0 } = {}) =>
    new OpenAI({ baseURL: baseUrl, apiKey, maxRetries });

export async function startTestEnv(options: StartOptions = {}): Promise<TestEnv> {
  const emulator = await startModelEmulator({ host: '127.0.0.1', port: 0 });
  const start = (stateDirectory = options.stateDirectory) =>
    startGateway({
      ...options,
      ...(stateDirectory ? { stateDirectory } : {}),
      env: { LOG_LEVEL: 'warn', MODEL_EMULATOR_URL: emulator.url, ...options.env },
    });
  let gateway = await start().catch(async (error: unknown) => {
    // An open emulator would keep the test run from exiting.
    await emulator.close();
    throw error;
  });
  let admin = await signIn(gateway.dashboardUrl, gateway.adminEmail, gateway.adminPassword);

  return {
    get gateway() {
      return gateway;
    },
    get admin() {
      return admin;
    },
    emulator,
    emulatorUrl: emulator.url,
    tenant: (tenantOptions) => createTenant(admin, tenantOptions),
    client: (apiKey, options) => clientOf(gateway)(apiKey, options),
    async crashAndRestart() {
      await gateway.kill();
      gateway = await start(gateway.stateDirectory);
      admin = await signIn(gateway.dashboardUrl, gateway.adminEmail, gateway.adminPassword);
    },
    async stop(stopOptions) {
      await gateway.stop(stopOptions);
      await emulator.close();
    },
  };
}
