// Connects to a TLS server with the client library that a service uses, and prints "connected" or the error. It is a
// program of its own, since Node reads NODE_EXTRA_CA_CERTS when a process starts.
import { readFileSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { createPool } from '@gateway/database';
import { createSmtpMailer } from '@gateway/mail';
import { kafkaOptionsOf } from '@gateway/process';
import { connectRedis } from '@gateway/rate-limit/redis';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { Kafka, logLevel } from 'kafkajs';
import { request } from 'undici';

const CLIENTS: Record<string, (url: string, authority?: string) => Promise<unknown>> = {
  async postgres(url) {
    const pool = createPool({ url, schema: 'public', applicationName: 'test', maxConnections: 1 });
    await pool.query('select 1');
  },
  async redis(url) {
    const client = connectRedis({ url });
    await new Promise((resolve, reject) => client.once('ready', resolve).once('error', reject));
  },
  async kafka(broker) {
    const { connection } = kafkaOptionsOf({
      KAFKA_BROKERS: [broker],
      KAFKA_TLS: 'true',
    } as Parameters<typeof kafkaOptionsOf>[0]);
    const kafka = new Kafka({ ...connection, logLevel: logLevel.NOTHING, retry: { retries: 0 } });
    await kafka.admin().connect();
  },
  otlp: (url) =>
    new Promise<void>((resolve, reject) => {
      new OTLPTraceExporter({ url, timeoutMillis: 2_000 }).export([], ({ error }) =>
        error ? reject(error) : resolve(),
      );
    }),
  smtp: (url) =>
    createSmtpMailer({ url, from: 'gateway@example.com' }).send({
      to: 'a@example.com',
      subject: 'Test',
      paragraphs: ['Test'],
    }),
  async oidc(url) {
    const { discovery } = await import('openid-client');
    await discovery(new URL(url), 'client', 'secret');
  },
  provider: async (url) => request(url),
  /** Like the calls between services, with this authority only. */
  pinned: (url, authority = '') =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const ca = readFileSync(authority);
      connectTls({ host: hostname, port: Number(port), ca }, () => resolve(undefined)).once('error', reject);
    }),
};

/** The message of an error, with those of its causes. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const causes = [error.cause, ...(error instanceof AggregateError ? error.errors : [])].filter(Boolean);
  return [error.message, (error as NodeJS.ErrnoException).code, ...causes.map(explain)].join(' ');
}

const [client = '', url = '', authority] = process.argv.slice(2);
CLIENTS[client]?.(url, authority).then(
  () => finish('connected'),
  (error: unknown) => finish(explain(error)),
);

function finish(result: string): void {
  process.stdout.write(result, () => process.exit());
}
