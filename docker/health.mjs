// `node health.mjs /livez`: calls a health endpoint of this container's program. Exits with 0 on success, else with 1.
import { readFileSync } from 'node:fs';

const { GATEWAY_ADMIN_PORT: port = '8082' } = process.env;
const adminUrl = `http://127.0.0.1:${port}${process.argv[2] ?? '/livez'}`;
// health.json names another URL for programs without a health port.
const { url = adminUrl } = JSON.parse(readFileSync(new URL('health.json', import.meta.url), 'utf8'));
const TIMEOUT_MS = 2_500;

try {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
} catch (error) {
  console.error(error.cause?.message ?? error.message);
  process.exit(1);
}
