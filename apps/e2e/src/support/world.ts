import { startModelEmulator } from '@gateway/model-emulator';
import OpenAI from 'openai';
import { createTenant, signIn, type AdminClient, type Tenant } from './admin-client';
import { startGateway, type GatewayProcess, type StartOptions } from './gateway-process';

/** A running gateway over a model emulator that lives in the test's own process, where its faults and counts can be reached. */
export interface World {
  readonly gateway: GatewayProcess;
  readonly emulatorUrl: string;
  readonly admin: AdminClient;
  tenant(options?: Parameters<typeof createTenant>[1]): Promise<Tenant>;
  client(apiKey: string, options?: { maxRetries?: number }): OpenAI;
  /** Ends the gateway as a crash would and starts it again on the same state. */
  crashAndRestart(): Promise<void>;
  stop(options?: { keepState?: boolean }): Promise<void>;
}

export async function startWorld(options: StartOptions = {}): Promise<World> {
  const emulator = await startModelEmulator({ host: '127.0.0.1', port: 0 });
  const start = (stateDirectory = options.stateDirectory) =>
    startGateway({
      ...options,
      ...(stateDirectory ? { stateDirectory } : {}),
      env: { LOG_LEVEL: 'warn', MODEL_EMULATOR_URL: emulator.url, ...options.env },
    });
  let gateway = await start().catch(async (error: unknown) => {
    // Left open, it would keep the test run from ending.
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
    emulatorUrl: emulator.url,
    tenant: (tenantOptions) => createTenant(admin, tenantOptions),
    client: (apiKey, { maxRetries = 0 } = {}) => new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries }),
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
