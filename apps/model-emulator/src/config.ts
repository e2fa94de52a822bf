import { parseArgs } from 'node:util';
import type { ModelEmulatorOptions } from '@gateway/model-emulator';

export const HELP = `model-emulator [--host 127.0.0.1] [--port 8090] [--seed 1] [--rate 0] [--delay 0] [--key KEY …]

  --rate   tokens per second of every response; 0: as fast as possible
  --delay  milliseconds before the first byte of every response
  --key    an accepted API key; may be repeated; without it any key is accepted
`;

/** @returns 'help' when it is requested. @throws Error that names the invalid argument. */
export function readConfig(argv: readonly string[]): ModelEmulatorOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8090' },
      seed: { type: 'string', default: '1' },
      rate: { type: 'string', default: '0' },
      delay: { type: 'string', default: '0' },
      key: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  return {
    host: values.host,
    port: wholeNumber('port', values.port),
    seed: wholeNumber('seed', values.seed),
    tokensPerSecond: wholeNumber('rate', values.rate),
    delayMs: wholeNumber('delay', values.delay),
    ...(values.key === undefined ? {} : { apiKeys: values.key }),
  };
}

function wholeNumber(name: string, value: string): number {
  if (!/^\d+$/.test(value)) throw new Error(`--${name} takes a whole number, not '${value}'`);
  return Number(value);
}
