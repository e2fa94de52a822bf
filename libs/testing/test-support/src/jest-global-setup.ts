import { offerSharedPostgres, type SharedPostgres } from './shared-postgres';

declare global {
  /** Handed from jest's global set-up to its global tear-down. */
  var sharedPostgres: SharedPostgres | undefined;
}

/** Runs once in jest's main process; the test files inherit its environment. */
export default async function setUp(): Promise<void> {
  if (process.env['TEST_DATABASE_URL']) return;
  globalThis.sharedPostgres = await offerSharedPostgres();
  process.env['GATEWAY_TEST_POSTGRES_PORT'] = String(globalThis.sharedPostgres.port);
}
