// What a process and its environment may tell about themselves. A part of every image, so of Node's own modules alone.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describeSetting } from './without-secrets.mjs';

const ASK_TIMEOUT_MS = 10_000;
const MAX_METRICS_LENGTH = 4 * 1024 * 1024;

/** Names of the settings in the configuration reference, with those that are read from files. */
export function documentedSettings(docs) {
  const page = readFileSync(path.join(docs, 'reference', 'configuration.md'), 'utf8');
  const names = [...page.matchAll(/^### `([A-Z][A-Z0-9_]+)`$/gm)].map(([, name]) => name);
  return names.flatMap((name) => [name, `${name}_FILE`]).sort();
}

/** Those of these names; anything else in the environment is nobody's business. */
export function describeSettings(environment, names) {
  const given = names.filter((name) => environment[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, describeSetting(name, environment[name])]));
}

/** Health, readiness and metrics, as the admin port of a process tells them. */
export async function askProcess(admin) {
  const ask = async (what) => {
    try {
      const answer = await fetch(new URL(what, admin), { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      return { failed: error.cause?.code ?? error.name };
    }
  };
  const [live, ready, metrics] = await Promise.all(['/livez', '/readyz', '/metrics'].map(ask));
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
