import path from 'node:path';
import { banner, openStateDirectory } from '@gateway/demo';
import { createLogger, runProcess } from '@gateway/runtime';
import { readOptionsOrExit } from '@gateway/test-support';
import { startCluster, type Cluster } from './cluster';
import { createLinePrinter } from './log-lines';
import { readCommand, USAGE } from './options';
import { writeProcessesFile } from './processes-file';
import { renderProcessTable } from './process-table';

/** Long enough for all services to finish their requests sequentially. */
const STOP_GRACE_MS = 120_000;

const command = readOptionsOrExit(() => readCommand(process.argv.slice(2), process.env), USAGE);
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
