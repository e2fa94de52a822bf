import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildImages } from './images';
import { Load } from './load';
import { startNode, takeDown } from './node';
import { readOptions, USAGE, type Options } from './options';
import { buildPrograms } from './programs';
import { Release } from './release';
import { renderTable, type StepResult } from './report';
import { INSTALL, STEPS, type Step, type StepContext } from './steps';

const USAGE_EXIT_CODE = 2;
const root = path.resolve(__dirname, '../..');
const startedMs = Date.now();

function say(text: string): void {
  const seconds = ((Date.now() - startedMs) / 1_000).toFixed(0).padStart(5);
  process.stdout.write(`${seconds} s  ${text}\n`);
}

async function main(): Promise<number> {
  const options = readOrExit();
  if (options.down) {
    await takeDown(options.cache, options.state);
    return 0;
  }
  const results: StepResult[] = [];
  const timed = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
    const beganMs = Date.now();
    const value = await work();
    results.push({ name, durationMs: Date.now() - beganMs, failed: false, note: '' });
    return value;
  };
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  await timed('programs', () => buildPrograms(options.cache, say));
  const images = await timed('images', () => buildImages(root, version, say));
  endOnSignals(options);
  try {
    say('starting the node');
    const node = await timed('a node that is ready', () => startNode(options.cache, options.state));
    say(`export KUBECONFIG=${node.kubeconfig}`);
    await timed('images on the node', () => node.loadImages(images.all));
    const release = new Release(node, { cache: options.cache, root });
    let load: Promise<Load> | undefined;
    const context: StepContext = {
      root,
      release,
      load: () => (load ??= Load.open(release, options.rate)),
    };
    const installed = await tryStep(INSTALL, context);
    results.push(installed);
    const chosen = STEPS.filter(({ group }) => options.only.length === 0 || options.only.includes(group));
    for (const step of installed.failed ? [] : chosen) results.push(await tryStep(step, context));
  } finally {
    process.stdout.write(`\n${renderTable(results)}\n`);
    if (!options.keep) await takeDown(options.cache, options.state);
  }
  return results.some(({ failed }) => failed) ? 1 : 0;
}

async function tryStep({ name, run }: Step, context: StepContext): Promise<StepResult> {
  say(name);
  const beganMs = Date.now();
  const result = await run(context).then(
    (note) => ({ failed: false, note }),
    (error: unknown) => ({ failed: true, note: error instanceof Error ? error.message : String(error) }),
  );
  say(`  ${result.failed ? 'failed' : 'passed'} ${result.note}`);
  return { name, durationMs: Date.now() - beganMs, ...result };
}

/** Ctrl-C takes everything down as well; a second one does not wait for it. */
function endOnSignals(options: Options): void {
  let isEnding = false;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (isEnding) process.exit(1);
      isEnding = true;
      say('taking the cluster down');
      takeDown(options.cache, options.state).finally(() => process.exit(1));
    });
  }
}

function readOrExit(): Options {
  const groups = [...new Set(STEPS.map(({ group }) => group))];
  try {
    const options = readOptions(process.argv.slice(2), root, groups);
    if (options !== 'help') return options;
    process.stdout.write(USAGE);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(USAGE_EXIT_CODE);
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
