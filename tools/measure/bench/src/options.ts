import path from 'node:path';
import { parseArgs } from 'node:util';

const TARGET_NAMES = ['upstream', 'node', 'express', 'relay', 'gateway'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** What `history` measures: the ledger with its event log, or usage. */
const HISTORY_PARTS = ['ledger', 'usage'] as const;
export type HistoryPart = (typeof HISTORY_PARTS)[number];

export interface Options {
  readonly command: CommandName;
  readonly targets: readonly TargetName[];
  /** Rounds over all targets; their figures are merged, so that a slow moment hits every target alike. */
  readonly rounds: number;
  /** How long each target is driven before anything is measured, so that its code is compiled. */
  readonly compileMs: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  readonly slowStreams: number;
  /** Chunks of one slow stream, at ten per second; of more than a thousand streams fewer, and as many less often. */
  readonly slowChunks: number;
  readonly jsonFile: string | undefined;
  /** `ab`: the folder of another build whose gateway is measured, too. */
  readonly otherBuilds: string | undefined;
  /** `history`: rows of each table. */
  readonly historyRows: number;
  readonly historyParts: readonly HistoryPart[];
  /** `cluster`: replicas of edge and ledger in each. */
  readonly sizes: readonly number[];
  /** `peers`: where they are installed; the user's cache folder when absent. */
  readonly cacheFolder: string | undefined;
}

interface Command {
  /** Of its one argument, if it has one. */
  readonly argument?: 'DIR' | 'ROWS';
  readonly flags: readonly Flag[];
  readonly summary: string;
}

const FLAGS = {
  quick: {
    type: 'boolean',
    usage: '--quick',
    summary: 'short windows: shows that it works, too short to compare',
  },
  json: { type: 'string', usage: '--json FILE', summary: 'also write the results as JSON' },
  only: { type: 'string', usage: '--only LIST', summary: 'of targets (history: of ledger,usage) only these' },
  sizes: {
    type: 'string',
    usage: '--sizes LIST',
    summary: 'replicas of edge and ledger in each cluster (1,2,4)',
  },
  cache: {
    type: 'string',
    usage: '--cache DIR',
    summary: "where peers are installed (the user's cache folder)",
  },
} as const;
type Flag = keyof typeof FLAGS;

const COMMANDS = {
  compare: {
    flags: ['quick', 'json', 'only'],
    summary: 'gateway, bare proxies and upstream, in turns (the default; three minutes)',
  },
  ab: {
    argument: 'DIR',
    flags: ['quick', 'json', 'only'],
    summary: 'the same with the gateway of another build, whose dist folder is DIR',
  },
  paced: {
    flags: ['quick', 'json', 'only'],
    summary: 'the CPU time of a chunk in an open stream, beside a relay of bytes (two minutes)',
  },
  peers: {
    flags: ['quick', 'json', 'only', 'cache'],
    summary: 'the gateway beside Portkey and LiteLLM, as a table in Markdown (seven minutes)',
  },
  statements: {
    flags: ['quick'],
    summary: 'how often each SQL statement runs per request, and its time (a minute)',
  },
  profile: { flags: ['quick'], summary: "the gateway's CPU time by cause and by file (two minutes)" },
  cluster: {
    flags: ['quick', 'sizes'],
    summary: 'one process beside clusters of several sizes (eight minutes)',
  },
  history: {
    argument: 'ROWS',
    flags: ['only'],
    summary: 'ledger, event log and usage with a tenth of ROWS rows, then with all of them',
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

export const HELP = `npm run bench -- [COMMAND] [OPTIONS]

${commandNames.map((name) => helpOf(name)).join('\n')}

${Object.values(FLAGS)
  .map(({ usage, summary }) => `  ${usage.padEnd(14)} ${summary}`)
  .join('\n')}

Settings of OpenTelemetry (OTEL_…) are passed on to the gateway, so that the cost of traces can be measured.
`;

function helpOf(name: CommandName): string {
  const { argument, flags, summary }: Command = COMMANDS[name];
  const usage = [name, argument, ...flags.map((flag) => `[${FLAGS[flag].usage}]`)].filter(Boolean).join(' ');
  return `  ${usage}\n      ${summary}`;
}

/** @returns 'help' when that is requested. @throws Error for what it does not understand. */
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
    throw new Error(`there is no command '${first}', but ${commandNames.join(', ')}`);
  const definition: Command = COMMANDS[command];
  if (more.length > 0 || (argument === undefined) !== (definition.argument === undefined)) {
    throw new Error(`${command} takes ${definition.argument ?? 'no argument'}`);
  }
  for (const flag of Object.keys(FLAGS) as Flag[]) {
    const isGiven = values[flag] !== undefined && values[flag] !== false;
    if (isGiven && !definition.flags.includes(flag)) throw new Error(`${command} has no --${flag}`);
  }
  const isHistory = command === 'history';
  return {
    command,
    ...(values.quick ? LENGTHS.quick : LENGTHS.full),
    targets: isHistory ? TARGET_NAMES : chosen(values.only, TARGET_NAMES),
    historyParts: isHistory ? chosen(values.only, HISTORY_PARTS) : HISTORY_PARTS,
    historyRows: isHistory ? count('ROWS', argument) : 0,
    otherBuilds: command === 'ab' && argument !== undefined ? path.resolve(argument) : undefined,
    jsonFile: values.json,
    sizes: (values.sizes ?? '1,2,4').split(',').map((size) => count('--sizes', size)),
    cacheFolder: values.cache === undefined ? undefined : path.resolve(values.cache),
  };
}

function chosen<Name extends string>(only: string | undefined, names: readonly Name[]): readonly Name[] {
  if (only === undefined) return names;
  return only.split(',').map((text) => {
    const found = names.find((name) => name === text.trim());
    if (found === undefined) throw new Error(`--only knows ${names.join(', ')}, not '${text}'`);
    return found;
  });
}

function count(name: string, text: string | undefined): number {
  if (text === undefined || !/^[1-9][0-9]*$/.test(text))
    throw new Error(`${name} is a number, not '${text}'`);
  return Number(text);
}
