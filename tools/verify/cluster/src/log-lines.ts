import { prettyFactory } from 'pino-pretty';
import type { ServiceName } from './services';

const RESET = '\u001b[0m';
/** ANSI colors, so that the terminal's palette applies. */
const COLORS: Readonly<Record<ServiceName | 'cluster', number>> = {
  cluster: 90,
  auth: 35,
  'rate-limit': 33,
  'billing-ledger': 32,
  'usage-aggregator': 36,
  'generation-query': 94,
  'inference-router': 34,
  'edge-proxy': 31,
  'dashboard-api': 95,
};
const NAME_WIDTH = 'inference-router-1'.length;

export type LinePrinter = (replica: string, line: string) => void;

/** Prints one log of all processes, with the replica's name on each line. */
export function createLinePrinter(write: (text: string) => void, colored: boolean): LinePrinter {
  const format = prettyFactory({
    colorize: colored,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname,name',
    singleLine: true,
  });
  return (replica, line) => {
    const service = replica.replace(/-\d+$/, '') as keyof typeof COLORS;
    const name = replica.padEnd(NAME_WIDTH);
    const shown = colored ? `\u001b[${COLORS[service]}m${name}${RESET}` : name;
    const text = line.startsWith('{') ? format(line).trimEnd() : line;
    write(`${shown} ${text}\n`);
  };
}
