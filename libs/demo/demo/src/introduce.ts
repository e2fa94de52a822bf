import type { Logger } from '@gateway/runtime';
import {
  readDevFile,
  readPasswordVersion,
  writeDevFile,
  writePasswordVersion,
  type DevFile,
} from './dev-file';
import { ensureDemo, type DemoClients } from './ensure-demo';

export interface IntroductionOptions extends Pick<DevFile, 'baseUrl' | 'dashboardUrl'> {
  readonly clients: DemoClients;
  readonly stateDirectory: string;
  readonly log: Pick<Logger, 'warn'>;
}

/** Ensures the demo's login and key, and writes the URLs and credentials to the dev file. */
export async function introduce(options: IntroductionOptions): Promise<DevFile> {
  const { clients, stateDirectory, baseUrl, dashboardUrl, log } = options;
  const earlier = readDevFile(stateDirectory);
  const passwordVersion = readPasswordVersion(stateDirectory);
  const demo = await ensureDemo(clients, earlier && { ...earlier, passwordVersion }, log);
  const { apiKey, adminEmail, adminPassword } = demo;
  const devFile: DevFile = { baseUrl, apiKey, dashboardUrl, adminEmail, adminPassword };
  writeDevFile(stateDirectory, devFile);
  writePasswordVersion(stateDirectory, demo.passwordVersion);
  return devFile;
}
