// `node health.mjs /livez`: asks this container's own program. Ends with 0 when the answer is good.
const { GATEWAY_ADMIN_PORT: port = '8082', HEALTH_URL } = process.env;
const url = HEALTH_URL || `http://127.0.0.1:${port}${process.argv[2] ?? '/livez'}`;
const TIMEOUT_MS = 2_500;

try {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
} catch (error) {
  console.error(error.cause?.message ?? error.message);
  process.exit(1);
}
