import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Enclosure, takeDown } from './enclosure';
import { readOptions, USAGE, type Options } from './options';
import { prepare } from './prepare';
import { renderTable, type StepResult } from './report';
import { runVisibly } from './run';
import { STEPS } from './steps';
import { tryChart } from './try-chart';

const USAGE_EXIT_CODE = 2;
/** How this program calls itself within the enclosure; the name of a file for the results follows. */
const WITHIN = '--within';
const root = path.resolve(__dirname, '../..');

async function main(): Promise<number> {
  const [first, resultsFile = '', ...others] = process.argv.slice(2);
  if (first === WITHIN) {
    await writeFile(resultsFile, JSON.stringify(await tryChart(readOrExit(others), root)));
    return 0;
  }
  const argv = process.argv.slice(2);
  const options = readOrExit(argv);
  if (options.down) {
    await takeDown(options.state);
    return 0;
  }
  if (existsSync(options.state) && !options.kept) {
    throw new Error(
      `${options.state} is there already: --kept goes on with that cluster, --down takes it down`,
    );
  }
  endOnSignals(options);
  try {
    await mkdir(options.state, { recursive: true });
    const before = options.kept ? [] : await prepare(options, root);
    const enclosure = await (options.kept ? findEnclosure(options) : Enclosure.open(options.state));
    const results = [...before, ...(await runWithin(enclosure, options, argv))];
    process.stdout.write(`\n${renderTable(results)}\n`);
    if (options.keep) process.stdout.write(`\nWithin: ${enclosure.command('bash').join(' ')}\n`);
    return results.some(({ failed }) => failed) ? 1 : 0;
  } finally {
    if (!options.keep) await takeDown(options.state);
  }
}

async function findEnclosure({ state }: Options): Promise<Enclosure> {
  const found = await Enclosure.find(state);
  if (found === undefined) throw new Error(`${state} holds no cluster that runs`);
  return found;
}

/** The same program again, in the network of the node: its clients must not be elsewhere. */
async function runWithin(
  enclosure: Enclosure,
  { state }: Options,
  argv: readonly string[],
): Promise<StepResult[]> {
  const resultsFile = path.join(state, 'results.json');
  const code = await runVisibly(
    enclosure.command(process.execPath, __filename, WITHIN, resultsFile, ...argv),
  );
  if (code !== 0) throw new Error('the chart could not be tried');
  return JSON.parse(readFileSync(resultsFile, 'utf8')) as StepResult[];
}

/** Ctrl-C takes everything down as well; a second one does not wait for it. */
function endOnSignals(options: Options): void {
  let isEnding = false;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (isEnding) process.exit(1);
      isEnding = true;
      process.stdout.write('taking the cluster down\n');
      takeDown(options.state).finally(() => process.exit(1));
    });
  }
}

function readOrExit(argv: readonly string[]): Options {
  const groups = [...new Set(STEPS.map(({ group }) => group))];
  try {
    const options = readOptions(argv, root, groups);
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
