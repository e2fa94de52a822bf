import { parseArgs } from 'node:util';

export interface Options {
  /** `faults`: faults of services, datastores and connections; `failover`: scenarios of datastores that fail over. */
  readonly lab: 'faults' | 'failover';
  readonly seed: number;
  readonly minutes: number;
  /** Requests per second. */
  readonly rate: number;
  readonly pauseMs: number;
  readonly cutMs: number;
  /**
   * Only faults whose name contains this text, each once, regardless of `minutes`. Of the failover lab: the names of
   * scenarios that share a cluster, with + between them.
   */
  readonly only: string | undefined;
  /** Whether low throughput is a failure; unreliable on a machine with other load. */
  readonly checksThroughput: boolean;
}

export const USAGE = `Usage: npm run chaos -- [OPTIONS]

Injects faults into a cluster on this machine under load. Afterwards it compares the records of the provider, the clients
and the ledger. Has the requirements of npm run cluster.

  --lab failover     scenarios with a failover of a datastore, instead of faults; --only NAME runs one of them, and
                     --only NAME+NAME several of different datastores in one cluster
  --seed N           selects faults, their order and requests (default: random)
  --minutes M        for how long to inject faults (default: 5)
  --rate N           requests per second (default: 30)
  --pause S          duration of a paused process in seconds (default: 20)
  --cut S            duration of a cut connection in seconds (default: 8)
  --only TEXT        every fault whose name contains TEXT, once each, instead of a random selection
  --skip-throughput  check responses and the ledger, but not throughput
`;

const MAX_SEED = 2 ** 31;

/** @returns 'help' if requested @throws Error for invalid arguments */
export function readOptions(argv: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      lab: { type: 'string', default: 'faults' },
      seed: { type: 'string' },
      minutes: { type: 'string', default: '5' },
      rate: { type: 'string', default: '30' },
      pause: { type: 'string', default: '20' },
      cut: { type: 'string', default: '8' },
      only: { type: 'string' },
      'skip-throughput': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  const { lab } = values;
  if (lab !== 'faults' && lab !== 'failover')
    throw new Error(`--lab must be faults or failover, not '${lab}'`);
  return {
    lab,
    seed: values.seed === undefined ? Math.ceil(Math.random() * MAX_SEED) : numberOf('--seed', values.seed),
    minutes: numberOf('--minutes', values.minutes),
    rate: numberOf('--rate', values.rate),
    pauseMs: numberOf('--pause', values.pause) * 1_000,
    cutMs: numberOf('--cut', values.cut) * 1_000,
    only: values.only,
    checksThroughput: !values['skip-throughput'],
  };
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || number <= 0)
    throw new Error(`${name} must be a number above 0, not '${text}'`);
  return number;
}
