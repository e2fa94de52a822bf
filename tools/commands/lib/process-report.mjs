// Settings, health and metrics of a process. Part of every image, so it uses only Node's built-in modules.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describeSetting } from './without-secrets.mjs';

const REQUEST_TIMEOUT_MS = 10_000;
const MAX_METRICS_LENGTH = 4 * 1024 * 1024;

/** Names of all documented settings, including their `_FILE` variants. */
export function documentedSettings(docs) {
  const page = readFileSync(path.join(docs, 'reference', 'configuration.md'), 'utf8');
  const names = [...page.matchAll(/^### `([A-Z][A-Z0-9_]+)`$/gm)].map(([, name]) => name);
  return names.flatMap((name) => [name, `${name}_FILE`]).sort();
}

/** The settings with these names; a report contains nothing else of the environment. */
export function describeSettings(environment, names) {
  const given = names.filter((name) => environment[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, describeSetting(name, environment[name])]));
}

/** Health, readiness and metrics from a process's admin port. */
export async function inspectProcess(admin) {
  const get = async (probePath) => {
    try {
      const response = await fetch(new URL(probePath, admin), {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return { failed: error.cause?.code ?? error.name };
    }
  };
  const [live, ready, metrics] = await Promise.all(['/livez', '/readyz', '/metrics'].map(get));
  const lines = (metrics.text ?? '').slice(0, MAX_METRICS_LENGTH).split('\n');
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return {
    admin: new URL(admin).host,
    live: live.status ?? live.failed,
    ready: ready.status ?? ready.failed,
    lag: samples.filter((line) =>
      /^gateway_(events_lag|events_dead_letters|inference_router_spool_bytes)/.test(line),
    ),
    metrics: metrics.status === 200 ? samples : (metrics.status ?? metrics.failed),
  };
}
