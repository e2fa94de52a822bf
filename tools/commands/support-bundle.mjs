// `npm run support-bundle`: one file with what others need to understand a fault, and no secret.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { exitOnFailure, Misused, root } from './lib/run.mjs';
import { askPods } from './lib/pods.mjs';
import { askProcess, describeSettings, documentedSettings } from './lib/process-report.mjs';
import { createScrubber, tellLine } from './lib/without-secrets.mjs';

const USAGE = `npm run support-bundle -- [--admin URL]… [--pods SELECTOR [--context NAME] [--namespace NAME]] [--log FILE]… [--output FILE]

Writes versions, settings with secrets replaced, health, readiness, metrics, how far consumers are, and the last
lines of logs, without prompts and keys, into one JSON file to hand on.

  --admin   of a process, such as http://127.0.0.1:8082, which is asked when none is named; may be repeated
  --pods    such as app.kubernetes.io/instance=gateway: what each of these pods tells of itself, its own settings
            included, and its log, by kubectl
  --context, --namespace  of the pods; kubectl's own when absent
  --log     JSON lines as a process writes them, such as of kubectl logs; may be repeated
  --output  support-bundle.json when absent

Settings are those of this command's environment: run it with that of the process in question.`;

const DEFAULT_ADMIN = 'http://127.0.0.1:8082';
const MAX_LINES = 2_000;

try {
  const { admins, logs, output, pods, context, namespace } = readArguments(process.argv.slice(2));
  const found = pods === undefined ? [] : await askPods({ selector: pods, context, namespace });
  const scrub = createScrubber(process.env, stateDirectory());
  const bundle = {
    made_at: new Date().toISOString(),
    versions: versions(),
    settings: describeSettings(process.env, documentedSettings(path.join(root, 'docs'))),
    models_file: fingerprint(process.env.GATEWAY_MODELS_FILE ?? path.join(root, 'models.yaml')),
    processes: [...(await Promise.all(admins.map(askProcess))), ...found.map(({ report }) => report)],
    logs: [
      ...logs.map((file) => lastLines(path.basename(file), readFileSync(file, 'utf8'))),
      ...found.map(({ pod, log }) => lastLines(pod, log)),
    ],
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
        pods: { type: 'string' },
        context: { type: 'string' },
        namespace: { type: 'string' },
        output: { type: 'string', default: 'support-bundle.json' },
      },
    }));
  } catch (error) {
    throw new Misused(`${error.message}\n\nUsage: ${USAGE}`);
  }
  const { pods, context, namespace, output, log: logs = [] } = values;
  const admins = values.admin ?? (pods === undefined ? [DEFAULT_ADMIN] : []);
  for (const url of admins) {
    if (!URL.canParse(url)) throw new Misused(`--admin: '${url}' is no URL\n\nUsage: ${USAGE}`);
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

/** Whether two have the same, without what is in it: headers of providers may be secrets. */
function fingerprint(file) {
  if (!existsSync(file)) return undefined;
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function lastLines(file, text) {
  const lines = text.split('\n').filter(Boolean);
  const told = lines.slice(-MAX_LINES).map(tellLine);
  const known = told.filter((line) => line !== undefined);
  return { file, left_out: lines.length - known.length, lines: known };
}
