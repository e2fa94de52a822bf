import path from 'node:path';
import { parseArgs } from 'node:util';

export const TARGET_NAMES = ['upstream', 'node', 'express', 'relay', 'gateway'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

export interface Options {
  readonly targets: readonly TargetName[];
  /** Rounds over all targets; their figures are merged, so that a slow moment hits every target alike. */
  readonly rounds: number;
  /** How long each target is driven before anything is measured, so that its code is compiled. */
  readonly compileMs: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  readonly slowStreams: number;
  /** Nothing but the slow streams, or what a chunk costs. */
  readonly part: 'slow streams' | 'paced chunks' | undefined;
  /** The folder of another build whose gateway is measured, too. */
  readonly otherBuilds: string | undefined;
  /** Chunks of one slow stream, at ten per second; of more than a thousand streams fewer, and as many less often. */
  readonly slowChunks: number;
  readonly jsonFile: string | undefined;
  /** Only how long hostile texts hold up the event loop. */
  readonly isTokenizerOnly: boolean;
  /** Only how long bodies hold up the gateway's event loop: those that people send, or hostile ones. */
  readonly bodies: 'ordinary' | 'hostile' | undefined;
  /** Only what ledger, event log and usage cost with so many rows of history. */
  readonly historyRows: number | undefined;
  /** Of what history is measured. */
  readonly historyParts: readonly HistoryPart[];
  /** Only the gateway beside clusters of several sizes. */
  readonly isCluster: boolean;
  /** Of edge and ledger in each cluster. */
  readonly sizes: readonly number[];
  /** Only what other prompts, headers, organizations and open streams cost. */
  readonly isConditions: boolean;
  /** The same with so many generations in the database; not at all when absent. */
  readonly generations: number | undefined;
  /** Only what the gateway asks of PostgreSQL. */
  readonly isStatements: boolean;
  /** Only where the gateway's CPU time goes. */
  readonly isProfile: boolean;
  /** Only the gateway and the bare proxies beside the gateways of others. */
  readonly isPeers: boolean;
  /** Where those are installed; the user's cache folder when absent. */
  readonly cacheFolder: string | undefined;
  /** Only what a call between two services costs. */
  readonly isRpcOnly: boolean;
  /** Only two ledgers with so many organizations. */
  readonly organizations: number | undefined;
  /** One of them has half the load. */
  readonly isHot: boolean;
}

/** What a history can be of: ledger and event log, or usage. */
export const HISTORY_PARTS = ['ledger', 'usage'] as const;
export type HistoryPart = (typeof HISTORY_PARTS)[number];

export const HELP = `npm run bench -- [--quick] [--json FILE] [--only node,express,gateway,upstream]
npm run bench -- --ab DIR
npm run bench -- --streams COUNT [--only gateway]
npm run bench -- --paced [--only relay,gateway]
npm run bench -- --conditions [--generations COUNT]
npm run bench -- --statements
npm run bench -- --profile
npm run bench -- --peers [--cache DIR]
npm run bench -- --tokenizer
npm run bench -- --bodies
npm run bench -- --hostile-bodies
npm run bench -- --history ROWS [--only ledger,usage]
npm run bench -- --organizations COUNT [--hot]
npm run bench -- --cluster [--sizes 1,2,4]
npm run bench -- --rpc

Settings of OpenTelemetry (OTEL_…) are passed on to the gateway, so that what traces cost can be measured.

Measures the gateway (auth, limits, hold and settlement on) beside a bare node:http proxy and a bare
express proxy in front of the same canned upstream. Every answer is checked.

  --quick      short windows: a smoke test of the bench more than a measurement
  --json FILE  also write the results as JSON
  --only LIST  measure these targets only
  --ab DIR     measure the gateway of another build, too, taking turns with this one; DIR is its dist folder
  --streams COUNT  measure nothing but so many slow streams at once; a minute
  --paced      measure nothing but what a chunk costs in a stream that is open, beside a relay of bytes; two minutes
  --conditions  measure prompts of 16 words, 8 kB and 1 MB, Idempotency-Key, 10,000 organizations, and the first token
               while 200 streams are open; five minutes
  --generations COUNT  with --conditions: then also on a database that holds so many generations
  --statements  print how often the gateway runs each statement of SQL for a request, and what it takes; a minute
  --profile    print what the gateway's CPU time goes to, by cause and by file; two minutes
  --peers      measure the gateway beside Portkey and LiteLLM, too, and print a table in Markdown; seven minutes, and what it
               takes to install them once from the registries of npm and Python
  --cache DIR  where they are installed, in place of the user's cache folder
  --tokenizer  measure how long hostile texts hold up the event loop instead; some ten seconds
  --bodies     measure how long ordinary request bodies, 16 words to 30 MB of images, hold up the gateway instead
  --hostile-bodies  measure how long hostile request bodies hold up the gateway instead; about two minutes
  --history ROWS  measure ledger, event log and usage with a tenth of so many rows each, and with all of them; 10000000
               take a quarter of an hour and 30 GB; ledger is with its event log
  --cluster    measure the gateway beside clusters with 1, 2 and 4 of edge and ledger, or as many as --sizes says; needs
               what npm run cluster needs
  --rpc        measure what a call between two services costs, in one process and over gRPC; a minute
  --organizations COUNT  measure two ledgers on one database with so many organizations; half a minute
  --hot        with --organizations: one of them has half the load
`;

/** Reads the command line; undefined when help was asked for. Throws for what it does not understand. */
export function readOptions(argv: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string' },
      ab: { type: 'string' },
      streams: { type: 'string' },
      paced: { type: 'boolean', default: false },
      conditions: { type: 'boolean', default: false },
      generations: { type: 'string' },
      statements: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      cache: { type: 'string' },
      tokenizer: { type: 'boolean', default: false },
      bodies: { type: 'boolean', default: false },
      'hostile-bodies': { type: 'boolean', default: false },
      history: { type: 'string' },
      cluster: { type: 'boolean', default: false },
      sizes: { type: 'string', default: '1,2,4' },
      rpc: { type: 'boolean', default: false },
      organizations: { type: 'string' },
      hot: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const streams = count('--streams', values.streams);
  return {
    targets: values.history === undefined ? chosen(values.only, TARGET_NAMES) : TARGET_NAMES,
    historyParts: values.history === undefined ? HISTORY_PARTS : chosen(values.only, HISTORY_PARTS),
    ...(values.quick
      ? { rounds: 1, compileMs: 4_000, warmUpMs: 500, windowMs: 1_500, slowChunks: 20, slowStreams: 1_000 }
      : {
          rounds: 3,
          compileMs: 10_000,
          warmUpMs: 1_500,
          windowMs: 3_000,
          slowChunks: 100,
          slowStreams: 5_000,
        }),
    ...(streams === undefined ? {} : { slowStreams: streams }),
    part: streams !== undefined ? 'slow streams' : values.paced ? 'paced chunks' : undefined,
    otherBuilds: values.ab === undefined ? undefined : path.resolve(values.ab),
    jsonFile: values.json,
    isTokenizerOnly: values.tokenizer,
    bodies: values['hostile-bodies'] ? 'hostile' : values.bodies ? 'ordinary' : undefined,
    historyRows: count('--history', values.history),
    isCluster: values.cluster,
    sizes: values.sizes.split(',').map((size) => count('--sizes', size) ?? 1),
    isConditions: values.conditions,
    generations: count('--generations', values.generations),
    isStatements: values.statements,
    isProfile: values.profile,
    isPeers: values.peers,
    cacheFolder: values.cache === undefined ? undefined : path.resolve(values.cache),
    isRpcOnly: values.rpc,
    organizations: count('--organizations', values.organizations),
    isHot: values.hot,
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

function count(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]*$/.test(text)) throw new Error(`${name} wants a number, not '${text}'`);
  return Number(text);
}
