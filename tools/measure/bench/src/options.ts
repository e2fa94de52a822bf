import path from 'node:path';
import { parseArgs } from 'node:util';

const TARGET_NAMES = ['upstream', 'node', 'express', 'lean', 'relay', 'gateway'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** Parts of `history`: the ledger with its event log, and usage. */
const HISTORY_PARTS = ['ledger', 'usage'] as const;
export type HistoryPart = (typeof HISTORY_PARTS)[number];

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
  /** `history`: rows of each table. */
  readonly historyRows: number;
  readonly historyParts: readonly HistoryPart[];
  /** `cluster`: replicas of edge and ledger in each cluster. */
  readonly sizes: readonly number[];
  /** `peers`: installation folder; the user's cache folder when absent. */
  readonly cacheFolder: string | undefined;
}

interface Command {
  /** Name of its argument, if it has one. */
  readonly argument?: 'DIR' | 'ROWS';
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
  only: { type: 'string', usage: '--only LIST', summary: 'only these targets (history: ledger, usage)' },
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
  compare: {
    flags: ['quick', 'json', 'only'],
    summary: 'gateway, bare proxies and upstream (the default; 3 minutes)',
  },
  ab: {
    argument: 'DIR',
    flags: ['quick', 'json', 'only'],
    summary: 'the same, plus the gateway of another build, whose dist folder is DIR',
  },
  paced: {
    flags: ['quick', 'json', 'only'],
    summary: 'CPU time per chunk in an open stream, compared with a byte relay (2 minutes)',
  },
  peers: {
    flags: ['quick', 'json', 'only', 'cache'],
    summary: 'the gateway compared with Portkey and LiteLLM, as a Markdown table (7 minutes)',
  },
  statements: {
    flags: ['quick'],
    summary: 'calls, time and rows of each SQL statement per request (1 minute)',
  },
  dialects: {
    flags: ['quick', 'json'],
    summary: 'streams through each dialect, compared with that of OpenAI (2 minutes)',
  },
  profile: { flags: ['quick'], summary: "the gateway's CPU time by cause and by file (2 minutes)" },
  cluster: {
    flags: ['quick', 'sizes'],
    summary: 'one process compared with clusters of several sizes (8 minutes)',
  },
  trace: {
    flags: ['quick'],
    summary: 'when each step of a request starts in a cluster, and how long it takes (1 minute)',
  },
  ledger: {
    flags: ['quick'],
    summary: 'holds and settlements per second of one database, and what they wait for (5 minutes)',
  },
  history: {
    argument: 'ROWS',
    flags: ['only'],
    summary: 'ledger, event log and usage with a tenth of ROWS rows, then with ROWS',
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
  const usage = [name, argument, ...flags.map((flag) => `[${FLAGS[flag].usage}]`)].filter(Boolean).join(' ');
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
  const [first = 'compare', argument, ...more] = positionals;
  const command = commandNames.find((name) => name === first);
  if (command === undefined)
    throw new Error(`unknown command '${first}'; commands are ${commandNames.join(', ')}`);
  const definition: Command = COMMANDS[command];
  if (more.length > 0 || (argument === undefined) !== (definition.argument === undefined)) {
    throw new Error(
      definition.argument === undefined
        ? `${command} takes no argument`
        : `${command} requires ${definition.argument}`,
    );
  }
  for (const flag of Object.keys(FLAGS) as Flag[]) {
    const isGiven = values[flag] !== undefined && values[flag] !== false;
    if (isGiven && !definition.flags.includes(flag)) throw new Error(`${command} has no option --${flag}`);
  }
  const isHistory = command === 'history';
  return {
    command,
    ...(values.quick ? LENGTHS.quick : LENGTHS.full),
    targets: isHistory ? TARGET_NAMES : selectNames(values.only, TARGET_NAMES),
    historyParts: isHistory ? selectNames(values.only, HISTORY_PARTS) : HISTORY_PARTS,
    historyRows: isHistory ? count('ROWS', argument) : 0,
    otherBuilds: command === 'ab' && argument !== undefined ? path.resolve(argument) : undefined,
    jsonFile: values.json,
    sizes: (values.sizes ?? '1,2,4').split(',').map((size) => count('--sizes', size)),
    cacheFolder: values.cache === undefined ? undefined : path.resolve(values.cache),
  };
}

function selectNames<Name extends string>(only: string | undefined, names: readonly Name[]): readonly Name[] {
  if (only === undefined) return names;
  return only.split(',').map((text) => {
    const found = names.find((name) => name === text.trim());
    if (found === undefined) throw new Error(`--only: unknown name '${text}'; names are ${names.join(', ')}`);
    return found;
  });
}

function count(name: string, text: string | undefined): number {
  if (text === undefined || !/^[1-9][0-9]*$/.test(text))
    throw new Error(`${name} must be a positive integer, not '${text}'`);
  return Number(text);
}
