import { ConfigError, createLogger, runProcess } from '@gateway/runtime';
import { loadConfig, type Config } from './config';
import { createGateway } from './wiring';

const CHECK_CONFIG = '--check-config';
/** Beyond the grace of running requests: for closing what they used. */
const STOP_MARGIN_MS = 30_000;

function readConfigOrExit(): Config {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

const config = readConfigOrExit();
if (process.argv.includes(CHECK_CONFIG)) {
  process.stdout.write('The configuration is valid.\n');
  process.exit(0);
}

const log = createLogger({
  name: 'gateway',
  level: config.LOG_LEVEL,
  pretty: process.stdout.isTTY === true,
});
const gateway = createGateway(config, log);

void runProcess({
  start: async () => {
    process.stdout.write(await gateway.start());
  },
  stop: () => gateway.stop(),
  graceMs: config.GATEWAY_SHUTDOWN_GRACE_MS + STOP_MARGIN_MS,
  log,
});
