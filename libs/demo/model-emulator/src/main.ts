import { parseArgs } from 'node:util';
import { startModelEmulator } from './server';

const HELP = `model-emulator [--host 127.0.0.1] [--port 8090] [--seed 1] [--rate 0] [--delay 0] [--key KEY …]

  --rate   tokens per second of every answer; 0: as fast as possible
  --delay  milliseconds before the first byte of every answer
  --key    an accepted API key; may be repeated; none: any key will do
`;

function wholeNumber(name: string, value: string): number {
  if (!/^\d+$/.test(value)) throw new Error(`--${name} takes a whole number, not '${value}'`);
  return Number(value);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
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
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const emulator = await startModelEmulator({
    host: values.host,
    port: wholeNumber('port', values.port),
    seed: wholeNumber('seed', values.seed),
    tokensPerSecond: wholeNumber('rate', values.rate),
    delayMs: wholeNumber('delay', values.delay),
    ...(values.key === undefined ? {} : { apiKeys: values.key }),
  });
  process.stdout.write(`model-emulator listens on ${emulator.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void emulator.close().then(() => process.exit(0)));
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  process.exitCode = 2;
});
