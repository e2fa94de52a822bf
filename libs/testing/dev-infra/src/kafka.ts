import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@gateway/database';
import type { TestServer } from './describe-with';
import { findProgram } from './find-program';
import { startTethered, type TetheredProcess } from './tethered-process';

/** The broker's version, from Maven Central. Raise it here alone. */
const KAFKA_VERSION = '4.1.0';
const SCALA_VERSION = '2.13';
const SLF4J_VERSION = '1.7.36';

/** A quick start rather than a high throughput. */
const JVM_OPTIONS = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

export const kafka: TestServer = {
  name: 'Kafka',
  howToGet: "Java 17 and Maven bring it: Debian's packages openjdk-17-jre-headless and maven.",
  isAvailable: () =>
    findProgram('java') !== undefined && (findProgram('mvn') !== undefined || existsSync(jars())),
};

export interface KafkaServer {
  /** `host:port` */
  readonly broker: string;
  /** Stops to answer, without an end of its connections. */
  pause(): void;
  resume(): void;
  /** As by a crash; what was written is kept. */
  kill(): Promise<void>;
  /** Starts it again on the same port with what was written. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface KafkaServerOptions {
  readonly port?: number;
  /** Keeps what was written, also for the next start; absent: a temporary one. */
  readonly directory?: string;
  /** As in server.properties. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** One Kafka broker that is its own controller, in a folder of its own. */
export async function startKafka({
  port: wanted,
  directory: kept,
  settings = {},
}: KafkaServerOptions = {}): Promise<KafkaServer> {
  const java = findProgram('java');
  if (java === undefined) throw new Error(`there is no Java on this machine. ${kafka.howToGet}`);
  await fetchJars();
  const port = wanted ?? (await findFreePort());
  const controllerPort = await findFreePort();
  const directory = kept ?? (await mkdtemp(join(tmpdir(), 'gateway-kafka-')));
  await mkdir(directory, { recursive: true });
  const properties = join(directory, 'server.properties');
  await writeFile(
    properties,
    toProperties({ ...defaultSettings(port, controllerPort, directory), ...settings }),
  );
  const classPath = ['-cp', join(jars(), '*')];
  const format = [
    'kafka.tools.StorageTool',
    'format',
    '-t',
    CLUSTER_ID,
    '-c',
    properties,
    '--ignore-formatted',
  ];
  await promisify(execFile)(java, [...JVM_OPTIONS, ...classPath, ...format]);
  let server: TetheredProcess | undefined;

  async function start(): Promise<void> {
    const started = await startTethered({
      command: java as string,
      args: [...JVM_OPTIONS, ...classPath, 'kafka.Kafka', properties],
    });
    server = started;
    await untilListening(port, started);
  }

  await start();
  return {
    broker: `127.0.0.1:${port}`,
    start,
    pause: () => server?.signal('SIGSTOP'),
    resume: () => server?.signal('SIGCONT'),
    kill: async () => server?.kill(),
    stop: async () => {
      server?.signal('SIGCONT');
      if (kept !== undefined) return server?.stop();
      // Whoever asks for a stop is done with the folder as well: nothing is to be written down in order.
      await server?.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Any will do, once for all. */
const CLUSTER_ID = 'Z2F0ZXdheS1kZXYtaW5mcg';

function defaultSettings(port: number, controllerPort: number, directory: string): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': join(directory, 'log'),
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '4',
    'group.initial.rebalance.delay.ms': '0',
    'controlled.shutdown.enable': 'false',
    // A broker that was killed is not let in again before the controller has forgotten its last life.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
  };
}

const toProperties = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** Shared by all checkouts of this user. */
function jars(): string {
  return join(homedir(), '.cache', 'inference-gateway', `kafka-${KAFKA_VERSION}`);
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>gateway</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_${SCALA_VERSION}</artifactId><version>${KAFKA_VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>${KAFKA_VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>${SLF4J_VERSION}</version></dependency>
  </dependencies>
</project>
`;

/** @returns the folder of the broker's jars; brings them from Maven Central, once. */
export async function kafkaJars(): Promise<string> {
  await fetchJars();
  return jars();
}

async function fetchJars(): Promise<void> {
  if (existsSync(jars())) return;
  const maven = findProgram('mvn');
  if (maven === undefined) throw new Error(`there is no Maven on this machine. ${kafka.howToGet}`);
  await mkdir(dirname(jars()), { recursive: true });
  // Beside the place that they are moved to: nothing is renamed from one file system to another.
  const folder = await mkdtemp(`${jars()}-`);
  try {
    await writeFile(join(folder, 'pom.xml'), POM);
    const args = [
      '-q',
      '-B',
      'dependency:copy-dependencies',
      '-DoutputDirectory=jars',
      '-DincludeScope=runtime',
    ];
    await promisify(execFile)(maven, args, { cwd: folder });
    // At once, so that half a download never looks like a whole one; another process may have been quicker.
    await rename(join(folder, 'jars'), jars()).catch((error: unknown) => {
      if (!existsSync(jars())) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const POLL_MS = 50;

async function untilListening(port: number, server: TetheredProcess): Promise<void> {
  let ended = false;
  void server.ended.then(() => (ended = true));
  while (!(await listens(port))) {
    if (ended) throw new Error(`the Kafka broker ended at once:\n${server.lastLines()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
