import { AUTH_SCHEMA } from '@gateway/auth';
import { createPool } from '@gateway/database';
import { type ScaleDatabase } from '../scale/scale-database';

const CREDIT_NANO_USD = 100_000_000_000_000n;
const PREFIX = 'sk-gw-bench-';
const DIGITS = 12;

/** The key of an organization that `addOrganizations` made. */
export function benchKey(organization: number): string {
  return PREFIX + String(organization).padStart(DIGITS, '0');
}

/** $1 how many. Every limit, far away, as the bench's first organization has. */
const ORGANIZATIONS = `
  insert into organizations (
    id, name, suspended, requests_per_minute, tokens_per_minute, daily_budget_nano_usd, concurrency,
    multiple_completions, created_at
  )
  select 'org-bench-' || n, 'Bench ' || n, false, 10000000, 2000000000, $2, 10000, false, now()
  from generate_series(0, $1::integer - 1) as n`;

/** $1 how many, $2 what each key begins with. */
const KEYS = `
  insert into api_keys (
    id, organization_id, name, sha256, last4, scopes, allowed_models, ip_allowlist, created_at
  )
  select 'key-bench-' || n, 'org-bench-' || n, 'bench', sha256(convert_to(secret, 'UTF8')), right(secret, 4),
    array['chat', 'usage:read'], '{}', '{}', now()
  from generate_series(0, $1::integer - 1) as n, lateral (select $2 || lpad(n::text, ${DIGITS}, '0') as secret) as key`;

/**
 * Adds organizations with credit and a key each, straight into the tables of auth, and by the ledger's own
 * function: by way of the dashboard ten thousand of them would take minutes. The gateway has made the tables.
 */
export async function addOrganizations(database: ScaleDatabase, organizations: number): Promise<void> {
  const pool = createPool({
    url: database.url,
    schema: AUTH_SCHEMA,
    applicationName: 'bench organizations',
    maxConnections: 1,
  });
  try {
    await pool.query(ORGANIZATIONS, [organizations, CREDIT_NANO_USD]);
    await pool.query(KEYS, [organizations, PREFIX]);
  } finally {
    await pool.end();
  }
  await database.ledgerPool.query(
    `select add_credit('crd-bench-' || n, 'org-bench-' || n, $1, 'bench', 0)
     from generate_series(0, $2::integer - 1) as n`,
    [CREDIT_NANO_USD, organizations],
  );
}
