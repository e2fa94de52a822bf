import { startModelEmulator } from '@gateway/model-emulator';
import { HELP, readConfig } from './config';

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2));
  if (config === 'help') {
    process.stdout.write(HELP);
    return;
  }
  const emulator = await startModelEmulator(config);
  process.stdout.write(`model-emulator listens on ${emulator.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void emulator.close().then(() => process.exit(0)));
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  process.exitCode = 2;
});
