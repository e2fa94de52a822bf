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

/** What a person can mend without reading a log. */
function explain(error: unknown): void {
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') {
    process.stderr.write(
      `Port ${port} is in use. Stop what uses it, or set GATEWAY_PORT or GATEWAY_DASHBOARD_PORT to another one.\n`,
    );
  }
}

void runProcess({
  start: async () => {
    try {
      process.stdout.write(await gateway.start());
    } catch (error) {
      explain(error);
      throw error;
    }
  },
  stop: () => gateway.stop(),
  failed: gateway.failed,
  graceMs: config.GATEWAY_SHUTDOWN_GRACE_MS + STOP_MARGIN_MS,
  log,
});
