import path from 'node:path';
import { banner, openStateDirectory } from '@gateway/demo';
import { createLogger, runProcess } from '@gateway/runtime';
import { startCluster, type Cluster } from './cluster';
import { createLinePrinter } from './log-lines';
import { readCommand, USAGE, type ClusterCommand } from './options';
import { writeProcessesFile } from './processes-file';
import { renderProcessTable } from './process-table';

/** Long enough for all services to finish their requests sequentially. */
const STOP_GRACE_MS = 120_000;
const USAGE_EXIT_CODE = 2;

const command = readOrExit();
const isTerminal = process.stdout.isTTY === true;
const print = createLinePrinter((text) => process.stdout.write(text), isTerminal);
const log = createLogger({
  name: 'cluster',
  level: 'info',
  pretty: false,
  destination: { write: (line) => print('cluster', line.trimEnd()) },
});
let cluster: Cluster | undefined;

void runProcess({
  async start() {
    openStateDirectory(command.stateDirectory);
    cluster = await startCluster({ ...command, programs: path.resolve(__dirname, '..'), onLine: print, log });
    writeProcessesFile(command.stateDirectory, cluster);
    process.stdout.write(
      banner({
        ...cluster.dev,
        adminUrl: cluster.replicas[0]?.adminUrl ?? '',
        modelId: await firstModelId(cluster),
        usesEmulator: true,
        stateDirectory: command.stateDirectory,
        modelsFile: command.modelsFile,
        showSecrets: isTerminal,
      }),
    );
    process.stdout.write(`${renderProcessTable(cluster)}\n`);
  },
  stop: async () => cluster?.stop(),
  graceMs: STOP_GRACE_MS,
  log,
});

/** @returns undefined if the demo key has no models */
async function firstModelId({ dev }: Cluster): Promise<string | undefined> {
  const response = await fetch(`${dev.baseUrl}/models`, {
    headers: { authorization: `Bearer ${dev.apiKey}` },
  });
  const { data } = (await response.json()) as { data?: { id: string }[] };
  return data?.[0]?.id;
}

function readOrExit(): ClusterCommand {
  try {
    const read = readCommand(process.argv.slice(2), process.env);
    if (read !== 'help') return read;
    process.stdout.write(USAGE);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(USAGE_EXIT_CODE);
  }
}
