import { parseArgs } from 'node:util';

export interface Options {
  readonly seed: number;
  readonly minutes: number;
  /** Requests per second. */
  readonly rate: number;
  readonly pauseMs: number;
  readonly cutMs: number;
  /** Only faults whose name holds this text, each once, however long that takes. */
  readonly only: string | undefined;
  /** Whether a throughput that fell too far is a failure; on a machine that does other work it says nothing. */
  readonly judgesThroughput: boolean;
}

export const USAGE = `Usage: npm run chaos -- [--seed N] [--minutes M] [--rate N] [--pause S] [--cut S] [--only TEXT] [--books-only]

Breaks a cluster on this machine while requests run through it, and adds up afterwards what the provider
served, what the clients got and what the ledger booked. Needs what npm run cluster needs.

  --seed     which faults, in which order, and which requests; a new one when absent
  --minutes  how long faults are begun (5)
  --rate     requests per second (30)
  --pause    how long a process is stopped, in seconds (20)
  --cut      how long a wire is cut, in seconds (8)
  --books-only  judge the answers and the books, not how many requests got through meanwhile
  --only     every fault whose name holds this text, once each, instead of a random choice
`;

const MAX_SEED = 2 ** 31;

/** @returns 'help' when that is asked for. @throws Error with what is wrong. */
export function readOptions(argv: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string' },
      minutes: { type: 'string', default: '5' },
      rate: { type: 'string', default: '30' },
      pause: { type: 'string', default: '20' },
      cut: { type: 'string', default: '8' },
      only: { type: 'string' },
      'books-only': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  return {
    seed: values.seed === undefined ? Math.ceil(Math.random() * MAX_SEED) : numberOf('--seed', values.seed),
    minutes: numberOf('--minutes', values.minutes),
    rate: numberOf('--rate', values.rate),
    pauseMs: numberOf('--pause', values.pause) * 1_000,
    cutMs: numberOf('--cut', values.cut) * 1_000,
    only: values.only,
    judgesThroughput: !values['books-only'],
  };
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || number <= 0) throw new Error(`${name}: '${text}' is no number above 0`);
  return number;
}
