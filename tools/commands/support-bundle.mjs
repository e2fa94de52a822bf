// `npm run support-bundle`: writes diagnostics without secrets to one file.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { exitOnFailure, Misused, root } from './lib/run.mjs';
import { inspectPods } from './lib/pods.mjs';
import { inspectProcess, describeSettings, documentedSettings } from './lib/process-report.mjs';
import { createScrubber, redactLogLine } from './lib/without-secrets.mjs';

const USAGE = `npm run support-bundle -- [--admin URL]… [--pods SELECTOR [--context NAME] [--namespace NAME]] [--log FILE]… [--output FILE]

Writes diagnostics to one JSON file to share with support: versions, settings, health, readiness, metrics, consumer lag
and recent log lines. Secrets are replaced; prompts and API keys are not included.

  --admin   health and metrics URL of a process (default: http://127.0.0.1:8082); may be repeated
  --pods    label selector, such as app.kubernetes.io/instance=gateway: reads each pod's settings, health, metrics and
            log with kubectl
  --context, --namespace  of the pods (default: kubectl's)
  --log     file of JSON log lines, such as the output of kubectl logs; may be repeated
  --output  file to write (default: support-bundle.json)

Without --pods, settings come from this command's environment: run it in the environment of the process.`;

const DEFAULT_ADMIN = 'http://127.0.0.1:8082';
const MAX_LINES = 2_000;

try {
  const { admins, logs, output, pods, context, namespace } = readArguments(process.argv.slice(2));
  const inspected = pods === undefined ? [] : await inspectPods({ selector: pods, context, namespace });
  const scrub = createScrubber(process.env, stateDirectory());
  const bundle = {
    made_at: new Date().toISOString(),
    versions: versions(),
    settings: describeSettings(process.env, documentedSettings(path.join(root, 'docs'))),
    models_file: fingerprint(process.env.GATEWAY_MODELS_FILE ?? path.join(root, 'models.yaml')),
    processes: [...(await Promise.all(admins.map(inspectProcess))), ...inspected.map(({ report }) => report)],
    logs: [
      ...logs.map((file) => lastLines(path.basename(file), readFileSync(file, 'utf8'))),
      ...inspected.map(({ pod, log }) => lastLines(pod, log)),
    ],
  };
  writeFileSync(output, `${scrub(JSON.stringify(bundle, null, 2))}\n`, { mode: 0o600 });
  process.stdout.write(`Wrote ${output}. Review it before you share it.\n`);
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
        pods: { type: 'string' },
        context: { type: 'string' },
        namespace: { type: 'string' },
        output: { type: 'string', default: 'support-bundle.json' },
      },
    }));
  } catch (error) {
    throw new Misused(error.message, USAGE);
  }
  const { pods, context, namespace, output, log: logs = [] } = values;
  const admins = values.admin ?? (pods === undefined ? [DEFAULT_ADMIN] : []);
  for (const url of admins) {
    if (!URL.canParse(url)) throw new Misused(`--admin: '${url}' is not a URL`, USAGE);
  }
  return { admins, logs, output, pods, context, namespace };
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

/** Shows whether two processes use the same file without including it: provider headers may be secret. */
function fingerprint(file) {
  if (!existsSync(file)) return undefined;
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function lastLines(file, text) {
  const lines = text.split('\n').filter(Boolean);
  const redacted = lines.slice(-MAX_LINES).map(redactLogLine);
  const known = redacted.filter((line) => line !== undefined);
  return { file, left_out: lines.length - known.length, lines: known };
}
