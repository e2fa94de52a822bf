import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@gateway/database';
import type { TestServer } from './describe-with';
import { findProgram } from './find-program';
import { brokerSettings, KAFKA_CLUSTER_ID } from './kafka-settings';
import type { KafkaServer, KafkaServerOptions } from './kafka-server';
import { ENGINE_IMAGES } from './test-engines';
import { startTethered, type TetheredProcess } from './tethered-process';

/** The broker's version on Maven Central: that of the image. */
const [, KAFKA_VERSION] = ENGINE_IMAGES.kafka.split(':');
const SCALA_VERSION = '2.13';
const SLF4J_VERSION = '1.7.36';

/** For a fast start, not for throughput. */
const JVM_OPTIONS = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** A broker that keeps its data in a folder, or reads files of this machine. */
export const localKafka: TestServer = {
  name: 'Kafka as a local program',
  installHint: 'Install Java 17 and Maven (Debian: openjdk-17-jre-headless and maven).',
  isAvailable: () =>
    findProgram('java') !== undefined && (findProgram('mvn') !== undefined || existsSync(jars())),
};

export interface LocalKafkaOptions extends KafkaServerOptions {
  readonly port?: number;
  /** Data directory that is kept after a stop; a temporary one when absent. */
  readonly directory?: string;
  /** Passwords of users for SCRAM, which exist from the start. */
  readonly scramUsers?: Readonly<Record<string, string>>;
}

/** A server of this machine, so that a test can stop it as an administrator would. */
export interface LocalKafkaServer extends KafkaServer {
  /** Stops it cleanly; written records are kept. */
  shutDown(): Promise<void>;
}

const SCRAM_MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-512'];

/** Starts one Kafka broker of this machine that is also its controller. Its settings may name files. */
export async function startLocalKafka(options: LocalKafkaOptions = {}): Promise<LocalKafkaServer> {
  const java = findProgram('java');
  if (java === undefined) throw new Error(`Java is not installed. ${localKafka.installHint}`);
  await fetchJars();
  classArchive ??= archiveClasses(java);
  return startBroker(java, `-XX:SharedArchiveFile=${await classArchive}`, options);
}

let classArchive: Promise<string> | undefined;

/**
 * Archives the classes of a running broker next to its jars, once per version of Java. With them, a broker starts in half
 * the time. A JVM that cannot use the file, or does not find it, starts without it.
 */
async function archiveClasses(java: string): Promise<string> {
  const file = `${jars()}-java-${statSync(java).mtimeMs}.jsa`;
  if (existsSync(file)) return file;
  const directory = await mkdtemp(join(tmpdir(), 'gateway-kafka-'));
  const partial = `${file}-${process.pid}`;
  try {
    // The JVM writes the archive when it exits cleanly.
    const broker = await startBroker(java, `-XX:ArchiveClassesAtExit=${partial}`, { directory });
    await broker.stop();
    await rename(partial, file).catch(() => undefined);
  } finally {
    await rm(partial, { force: true });
    await rm(directory, { recursive: true, force: true });
  }
  return file;
}

async function startBroker(
  java: string,
  archiveOption: string,
  { port: requestedPort, directory: permanentDirectory, settings = {}, scramUsers = {} }: LocalKafkaOptions,
): Promise<LocalKafkaServer> {
  const port = requestedPort ?? (await findFreePort());
  const controller = `127.0.0.1:${await findFreePort()}`;
  const broker = `127.0.0.1:${port}`;
  const directory = permanentDirectory ?? (await mkdtemp(join(tmpdir(), 'gateway-kafka-')));
  await mkdir(directory, { recursive: true });
  const properties = join(directory, 'server.properties');
  await writeFile(
    properties,
    toProperties({
      ...brokerSettings({ listener: broker, advertised: broker, controller, directory }),
      ...settings,
    }),
  );
  const jvmOptions = [...JVM_OPTIONS, archiveOption];
  const classPath = ['-cp', join(jars(), '*')];
  const format = [
    'kafka.tools.StorageTool',
    'format',
    '-t',
    KAFKA_CLUSTER_ID,
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
  await promisify(execFile)(java, [...jvmOptions, ...classPath, ...format]);
  let server: TetheredProcess | undefined;

  async function start(): Promise<void> {
    const started = await startTethered({
      command: java,
      args: [...jvmOptions, ...classPath, 'kafka.Kafka', properties],
    });
    server = started;
    await waitUntilListening(port, started);
  }

  await start();
  return {
    broker,
    start,
    pause: async () => server?.pause(),
    resume: async () => server?.resume(),
    kill: async () => server?.kill(),
    shutDown: async () => server?.stop(),
    stop: async () => {
      server?.resume();
      if (permanentDirectory !== undefined) return server?.stop();
      // A temporary folder is deleted anyway, so there is no need for a clean shutdown.
      await server?.kill();
      await rm(directory, { recursive: true, force: true });
    },
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
  if (maven === undefined) throw new Error(`Maven is not installed. ${localKafka.installHint}`);
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
