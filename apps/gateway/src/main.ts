import { readVersion } from '@gateway/dashboard-api';
import { openStateDirectory } from '@gateway/demo';
import { checkModelsFile } from '@gateway/inference-router';
import { ConfigError, createLogger, runProcess } from '@gateway/runtime';
import { startTelemetry } from '@gateway/telemetry';
import { readCommandLine, USAGE } from './command-line';
import { loadConfig, type Config } from './config';
import { explainFailure } from './explain-failure';
import { createGateway } from './wiring';

/** Time to close resources after the grace period of running requests. */
const STOP_MARGIN_MS = 30_000;
/** For invalid arguments or configuration. */
const USAGE_EXIT_CODE = 2;

const command = orExit(() => readCommandLine(process.argv.slice(2)), USAGE);
if (command === 'help') {
  process.stdout.write(USAGE);
  process.exit(0);
}
if (command === 'version') {
  process.stdout.write(`${readVersion() ?? 'unknown'}\n`);
  process.exit(0);
}
const config = orExit(loadConfiguration);
if (command === 'check_config') {
  process.stdout.write('The configuration and the models file are valid.\n');
  process.exit(0);
}

orExit(() => openStateDirectory(config.stateDirectory));
void serve();

/** Starts telemetry first, because other components check for it when they are created. */
async function serve(): Promise<void> {
  const telemetry = await startTelemetry({ serviceName: 'gateway', settings: config });
  const isTerminal = process.stdout.isTTY === true;
  const log = createLogger({
    name: 'gateway',
    level: config.LOG_LEVEL,
    pretty: isTerminal,
    onLine: telemetry.onLogLine,
  });
  telemetry.reportTo(log);
  const gateway = createGateway(config, log);
  await runProcess({
    start: async () => {
      try {
        const started = await gateway.start({ showSecrets: isTerminal });
        process.stdout.write(started);
      } catch (error) {
        const explanation = explainFailure(error, config);
        if (explanation !== undefined) process.stderr.write(`${explanation}\n`);
        throw error;
      }
    },
    stop: async () => {
      await gateway.stop();
      await telemetry.stop();
    },
    failed: gateway.failed,
    graceMs: config.GATEWAY_SHUTDOWN_GRACE_MS + STOP_MARGIN_MS,
    log,
  });
}

/** Validates settings and the models file, if it is the catalogue, before anything is started. */
function loadConfiguration(): Config {
  const loaded = loadConfig();
  if (loaded.GATEWAY_CATALOGUE === 'file') checkModelsFile(loaded.GATEWAY_MODELS_FILE, loaded.environment);
  return loaded;
}

/** Exits with the message of an error that the operator can fix. */
function orExit<Value>(read: () => Value, usage = ''): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError) && usage === '') throw error;
    process.stderr.write(`${(error as Error).message}\n${usage && `\n${usage}`}`);
    process.exit(USAGE_EXIT_CODE);
  }
}
