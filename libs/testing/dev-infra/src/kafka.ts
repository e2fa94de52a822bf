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

/** The broker's version on Maven Central. */
const KAFKA_VERSION = '4.1.0';
const SCALA_VERSION = '2.13';
const SLF4J_VERSION = '1.7.36';

/** For a fast start, not for throughput. */
const JVM_OPTIONS = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

export const kafka: TestServer = {
  name: 'Kafka',
  installHint: 'Install Java 17 and Maven (Debian: openjdk-17-jre-headless and maven).',
  isAvailable: () =>
    findProgram('java') !== undefined && (findProgram('mvn') !== undefined || existsSync(jars())),
};

export interface KafkaServer {
  /** `host:port` */
  readonly broker: string;
  /** Stops responding without closing connections. */
  pause(): void;
  resume(): void;
  /** Simulates a crash; written records are kept. */
  kill(): Promise<void>;
  /** Stops it cleanly; written records are kept. */
  shutDown(): Promise<void>;
  /** Restarts it on the same port with its written records. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface KafkaServerOptions {
  readonly port?: number;
  /** Data directory that is kept after a stop; a temporary one when absent. */
  readonly directory?: string;
  /** As in server.properties. A value may contain line breaks, such as PEM. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Passwords of users for SCRAM, which exist from the start. */
  readonly scramUsers?: Readonly<Record<string, string>>;
}

/** Starts one Kafka broker that is also its controller. */
export async function startKafka({
  port: requestedPort,
  directory: permanentDirectory,
  settings = {},
  scramUsers = {},
}: KafkaServerOptions = {}): Promise<KafkaServer> {
  const java = findProgram('java');
  if (java === undefined) throw new Error(`Java is not installed. ${kafka.installHint}`);
  await fetchJars();
  const port = requestedPort ?? (await findFreePort());
  const controllerPort = await findFreePort();
  const directory = permanentDirectory ?? (await mkdtemp(join(tmpdir(), 'gateway-kafka-')));
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
    ...Object.entries(scramUsers).flatMap(([user, password]) =>
      SCRAM_MECHANISMS.flatMap((mechanism) => [
        '--add-scram',
        `${mechanism}=[name=${user},password=${password}]`,
      ]),
    ),
  ];
  await promisify(execFile)(java, [...JVM_OPTIONS, ...classPath, ...format]);
  let server: TetheredProcess | undefined;

  async function start(): Promise<void> {
    const started = await startTethered({
      command: java as string,
      args: [...JVM_OPTIONS, ...classPath, 'kafka.Kafka', properties],
    });
    server = started;
    await waitUntilListening(port, started);
  }

  await start();
  return {
    broker: `127.0.0.1:${port}`,
    start,
    pause: () => server?.signal('SIGSTOP'),
    resume: () => server?.signal('SIGCONT'),
    kill: async () => server?.kill(),
    shutDown: async () => server?.stop(),
    stop: async () => {
      server?.signal('SIGCONT');
      if (permanentDirectory !== undefined) return server?.stop();
      // A temporary folder is deleted anyway, so there is no need for a clean shutdown.
      await server?.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const SCRAM_MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-512'];
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
    // After a kill, a broker can register again only when its previous session has expired.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
  };
}

const toProperties = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value.replaceAll('\n', '\\n')}\n`)
    .join('');

/** Shared by all checkouts of a user. */
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

/** Downloads the broker's jars from Maven Central, once. @returns their folder */
export async function kafkaJars(): Promise<string> {
  await fetchJars();
  return jars();
}

async function fetchJars(): Promise<void> {
  if (existsSync(jars())) return;
  const maven = findProgram('mvn');
  if (maven === undefined) throw new Error(`Maven is not installed. ${kafka.installHint}`);
  await mkdir(dirname(jars()), { recursive: true });
  // A sibling of the target, so that the rename stays on one file system.
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
    // Atomic, so that an incomplete download is never used; another process may have renamed its own first.
    await rename(join(folder, 'jars'), jars()).catch((error: unknown) => {
      if (!existsSync(jars())) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const POLL_MS = 50;

async function waitUntilListening(port: number, server: TetheredProcess): Promise<void> {
  let hasExited = false;
  void server.exited.then(() => (hasExited = true));
  while (!(await isListening(port))) {
    if (hasExited) throw new Error(`the Kafka broker exited during startup:\n${server.lastLines()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
