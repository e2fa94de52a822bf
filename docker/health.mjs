// `node health.mjs /livez`: asks this container's own program. Ends with 0 when the answer is good.
import { readFileSync } from 'node:fs';

const { GATEWAY_ADMIN_PORT: port = '8082' } = process.env;
const adminUrl = `http://127.0.0.1:${port}${process.argv[2] ?? '/livez'}`;
// The image says where a program is asked that has no admin port.
const { url = adminUrl } = JSON.parse(readFileSync(new URL('health.json', import.meta.url), 'utf8'));
const TIMEOUT_MS = 2_500;

try {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
} catch (error) {
  console.error(error.cause?.message ?? error.message);
  process.exit(1);
}
