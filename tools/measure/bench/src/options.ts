import path from 'node:path';
import { parseArgs } from 'node:util';

const TARGET_NAMES = ['upstream', 'node', 'express', 'lean', 'relay', 'gateway'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

export interface Options {
  readonly command: CommandName;
  readonly targets: readonly TargetName[];
  /** Rounds over all targets, merged so that a temporary slowdown affects all targets alike. */
  readonly rounds: number;
  /** Duration of the load that compiles each target's code before measuring. */
  readonly compileMs: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  readonly slowStreams: number;
  /** Chunks of a slow stream, at ten per second; with more than 1,000 streams, fewer chunks at a lower rate. */
  readonly slowChunks: number;
  readonly jsonFile: string | undefined;
  /** `ab`: the dist folder of another build to compare. */
  readonly otherBuilds: string | undefined;
  /** `cluster`: replicas of edge and ledger in each cluster. */
  readonly sizes: readonly number[];
  /** `peers`: installation folder; the user's cache folder when absent. */
  readonly cacheFolder: string | undefined;
}

interface Command {
  /** Name of its optional argument, if it has one. */
  readonly argument?: 'DIR';
  readonly flags: readonly Flag[];
  readonly summary: string;
}

const FLAGS = {
  quick: {
    type: 'boolean',
    usage: '--quick',
    summary: 'short windows: checks that the bench works, too short to compare',
  },
  json: { type: 'string', usage: '--json FILE', summary: 'also write the results as JSON' },
  only: { type: 'string', usage: '--only LIST', summary: 'only these targets' },
  sizes: {
    type: 'string',
    usage: '--sizes LIST',
    summary: 'replicas of edge and ledger in each cluster (default: 1,2,4)',
  },
  cache: {
    type: 'string',
    usage: '--cache DIR',
    summary: "where to install peers (default: the user's cache folder)",
  },
} as const;
type Flag = keyof typeof FLAGS;

const COMMANDS = {
  ab: {
    argument: 'DIR',
    flags: ['quick', 'json', 'only'],
    summary:
      'gateway, bare proxies and upstream, and the gateway of another build, whose dist folder is DIR (the default; 9 minutes)',
  },
  peers: {
    flags: ['quick', 'json', 'only', 'cache'],
    summary: 'the gateway compared with Portkey and LiteLLM, as a Markdown table (7 minutes)',
  },
  cluster: {
    flags: ['quick', 'sizes'],
    summary: 'one process compared with clusters of several sizes (8 minutes)',
  },
  ledger: {
    flags: ['quick'],
    summary: 'holds and settlements per second of one database, and what they wait for (5 minutes)',
  },
} as const satisfies Record<string, Command>;
export type CommandName = keyof typeof COMMANDS;

const commandNames = Object.keys(COMMANDS) as CommandName[];
const LENGTHS = {
  quick: { rounds: 1, compileMs: 4_000, warmUpMs: 500, windowMs: 1_500, slowChunks: 20, slowStreams: 1_000 },
  full: {
    rounds: 3,
    compileMs: 10_000,
    warmUpMs: 1_500,
    windowMs: 3_000,
    slowChunks: 100,
    slowStreams: 5_000,
  },
};

export const HELP = `Usage: npm run bench -- [COMMAND] [OPTIONS]

${commandNames.map((name) => helpOf(name)).join('\n')}

${Object.values(FLAGS)
  .map(({ usage, summary }) => `  ${usage.padEnd(14)} ${summary}`)
  .join('\n')}

OpenTelemetry settings (OTEL_…) are passed on to the gateway, to measure the cost of tracing.
`;

function helpOf(name: CommandName): string {
  const { argument, flags, summary }: Command = COMMANDS[name];
  const usage = [name, argument && `[${argument}]`, ...flags.map((flag) => `[${FLAGS[flag].usage}]`)]
    .filter(Boolean)
    .join(' ');
  return `  ${usage}\n      ${summary}`;
}

/** @returns 'help' if requested @throws Error for invalid arguments */
export function readOptions(argv: readonly string[]): Options | 'help' {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string' },
      sizes: { type: 'string' },
      cache: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const [first = 'ab', argument] = positionals;
  const command = commandNames.find((name) => name === first);
  if (command === undefined)
    throw new Error(`unknown command '${first}'; commands are ${commandNames.join(', ')}`);
  const definition: Command = COMMANDS[command];
  const maxArguments = definition.argument === undefined ? 0 : 1;
  if (positionals.length - 1 > maxArguments)
    throw new Error(`${command} takes ${maxArguments === 0 ? 'no argument' : 'one argument'}`);
  for (const flag of Object.keys(FLAGS) as Flag[]) {
    const isGiven = values[flag] !== undefined && values[flag] !== false;
    if (isGiven && !definition.flags.includes(flag)) throw new Error(`${command} has no option --${flag}`);
  }
  return {
    command,
    ...(values.quick ? LENGTHS.quick : LENGTHS.full),
    targets: selectTargets(values.only),
    otherBuilds: argument === undefined ? undefined : path.resolve(argument),
    jsonFile: values.json,
    sizes: (values.sizes ?? '1,2,4').split(',').map((size) => count('--sizes', size)),
    cacheFolder: values.cache === undefined ? undefined : path.resolve(values.cache),
  };
}

function selectTargets(only: string | undefined): readonly TargetName[] {
  if (only === undefined) return TARGET_NAMES;
  return only.split(',').map((text) => {
    const found = TARGET_NAMES.find((name) => name === text.trim());
    if (found === undefined)
      throw new Error(`--only: unknown name '${text}'; names are ${TARGET_NAMES.join(', ')}`);
    return found;
  });
}

function count(name: string, text: string | undefined): number {
  if (text === undefined || !/^[1-9][0-9]*$/.test(text))
    throw new Error(`${name} must be a positive integer, not '${text}'`);
  return Number(text);
}
