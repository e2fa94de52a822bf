// `npm run support-bundle`: one file with what others need to understand a fault, and no secret.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { exitOnFailure, Misused, root } from './lib/run.mjs';
import { createScrubber, describeSetting, tellLine } from './lib/without-secrets.mjs';

const USAGE = `npm run support-bundle -- [--admin URL]… [--log FILE]… [--output FILE]

Writes versions, settings with secrets replaced, health, readiness, metrics, how far consumers are, and the last
lines of logs, without prompts and keys, into one JSON file to hand on.

  --admin   of a process, such as http://127.0.0.1:8082, which is asked when none is named; may be repeated
  --log     JSON lines as a process writes them, such as of kubectl logs; may be repeated
  --output  support-bundle.json when absent

Settings are those of this command's environment: run it with that of the process in question.`;

const DEFAULT_ADMIN = 'http://127.0.0.1:8082';
const ASK_TIMEOUT_MS = 10_000;
const MAX_LINES = 2_000;
const MAX_METRICS_LENGTH = 4 * 1024 * 1024;

try {
  const { admins, logs, output } = readArguments(process.argv.slice(2));
  const scrub = createScrubber(process.env, stateDirectory());
  const bundle = {
    made_at: new Date().toISOString(),
    versions: versions(),
    settings: settings(process.env),
    models_file: fingerprint(process.env.GATEWAY_MODELS_FILE ?? path.join(root, 'models.yaml')),
    processes: await Promise.all(admins.map(askProcess)),
    logs: logs.map(lastLines),
  };
  writeFileSync(output, `${scrub(JSON.stringify(bundle, null, 2))}\n`, { mode: 0o600 });
  process.stdout.write(`${output}\nLook through it before you hand it on.\n`);
} catch (error) {
  exitOnFailure(error);
}

function readArguments(argv) {
  let values;
  try {
    ({ values } = parseArgs({
      args: argv,
      options: {
        admin: { type: 'string', multiple: true },
        log: { type: 'string', multiple: true },
        output: { type: 'string', default: 'support-bundle.json' },
      },
    }));
  } catch (error) {
    throw new Misused(`${error.message}\n\nUsage: ${USAGE}`);
  }
  const admins = values.admin ?? [DEFAULT_ADMIN];
  for (const url of admins) {
    if (!URL.canParse(url)) throw new Misused(`--admin: '${url}' is no URL\n\nUsage: ${USAGE}`);
  }
  return { admins, logs: values.log ?? [], output: values.output };
}

function stateDirectory() {
  return path.resolve(process.env.GATEWAY_STATE_DIR ?? path.join(root, '.gateway'));
}

function versions() {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return {
    gateway: version,
    commit: commit(),
    node: process.version,
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    cores: os.availableParallelism(),
    memory_mib: Math.round(os.totalmem() / 1024 / 1024),
  };
}

function commit() {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', 'HEAD'], options).trim();
  } catch {
    return undefined;
  }
}

/** Those that the documents name; anything else in the environment is nobody's business. */
function settings(environment) {
  const documented = ['configuration.md', 'cluster.md'].flatMap((name) => {
    const text = readFileSync(path.join(root, 'docs', name), 'utf8');
    return [...text.matchAll(/^\| `([A-Z][A-Z0-9_]+)`/gm)].map(([, variable]) => variable);
  });
  const names = [...new Set(documented.flatMap((name) => [name, `${name}_FILE`]))].sort();
  return Object.fromEntries(
    names
      .filter((name) => environment[name] !== undefined)
      .map((name) => [name, describeSetting(name, environment[name])]),
  );
}

/** Whether two have the same, without what is in it: headers of providers may be secrets. */
function fingerprint(file) {
  if (!existsSync(file)) return undefined;
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

async function askProcess(admin) {
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

function lastLines(file) {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const told = lines.slice(-MAX_LINES).map(tellLine);
  const known = told.filter((line) => line !== undefined);
  return { file: path.basename(file), left_out: lines.length - known.length, lines: known };
}
