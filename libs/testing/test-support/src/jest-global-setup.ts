// Jest's global setup does not support the workspace's import aliases, so this imports by path.
// eslint-disable-next-line @nx/enforce-module-boundaries
import { prepareEngines } from '../../dev-infra/src/prepare-engines';
import { provideSharedPostgres, type SharedPostgres } from './shared-postgres';

declare global {
  /** Passed from jest's global setup to its global teardown. */
  var sharedPostgres: SharedPostgres | undefined;
}

/** Runs once in jest's main process; the test files inherit its environment. */
export default async function setUp(): Promise<void> {
  await prepareEngines();
  if (process.env['TEST_DATABASE_URL']) return;
  globalThis.sharedPostgres = await provideSharedPostgres();
  process.env['GATEWAY_TEST_POSTGRES_PORT'] = String(globalThis.sharedPostgres.port);
}
