import { createConnection } from 'node:net';
import { findFreePort } from '@gateway/database';
import { containerHost, startContainer } from './container';
import type { KafkaServer, KafkaServerOptions } from './kafka-server';
import { brokerSettings, KAFKA_CLUSTER_ID } from './kafka-settings';
import { ENGINE_IMAGES } from './test-engines';

const PORT = 9092;
const CONTROLLER_PORT = 9093;
/** A folder that the image's user owns. */
const DIRECTORY = '/var/lib/kafka/data';

/** Starts one broker, which is also its controller, in a container. */
export async function startKafkaContainer({ settings = {} }: KafkaServerOptions = {}): Promise<KafkaServer> {
  const [host, port] = [await containerHost(), await findFreePort()];
  const broker = `${host}:${port}`;
  const all = {
    ...brokerSettings({
      listener: `:${PORT}`,
      advertised: broker,
      controller: `localhost:${CONTROLLER_PORT}`,
      directory: DIRECTORY,
    }),
    ...settings,
  };
  const { run: _, ...container } = await startContainer({
    image: ENGINE_IMAGES.kafka,
    environment: {
      CLUSTER_ID: KAFKA_CLUSTER_ID,
      KAFKA_HEAP_OPTS: '-Xmx512m',
      ...Object.fromEntries(Object.entries(all).map(([name, value]) => [variableOf(name), value])),
    },
    port: { container: PORT, host: port },
    isReady: () => isBrokerResponding(host, port),
  });
  return { ...container, broker };
}

/** The environment variable that the image turns into this property. */
function variableOf(property: string): string {
  const name = property.replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_');
  return `KAFKA_${name.toUpperCase()}`;
}

/** ApiVersions, version 0, which every broker responds without authentication. */
const API_VERSIONS_REQUEST = Buffer.from('0000000a0012000000000001ffff', 'hex');
const RESPONSE_TIMEOUT_MS = 2_000;

/** Whether the broker responds to a request. Docker accepts connections before the broker does. */
function isBrokerResponding(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port }, () => socket.write(API_VERSIONS_REQUEST));
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy());
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
