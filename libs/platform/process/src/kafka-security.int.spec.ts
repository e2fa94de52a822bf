import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, filesOf, issueCertificate, type KeyPairPem } from '@gateway/certificates';
import { findFreePort } from '@gateway/database';
import { describeWith, localKafka, startLocalKafka, type KafkaServer } from '@gateway/dev-infra';
import { createKafkaEventLog, type KafkaEventLog } from '@gateway/events/kafka';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import { z } from 'zod';
import { kafkaOptionsOf, kafkaSettings } from './kafka-settings';

const USER = 'gateway';
const PASSWORD = 'password-of-gateway';
const DAYS = 2;

jest.setTimeout(120_000);

describeWith(localKafka, 'a Kafka broker with TLS, client certificates and SCRAM', () => {
  let server: KafkaServer;
  let authority: KeyPairPem;
  let folder: string;
  let brokers: string;
  let opened: KafkaEventLog[] = [];

  beforeAll(async () => {
    authority = await createAuthority();
    const broker = await issueCertificate(authority, { dnsNames: ['localhost'], validDays: DAYS });
    const port = await findFreePort();
    brokers = `localhost:${port}`;
    folder = mkdtempSync(join(tmpdir(), 'gateway-kafka-security-'));
    const login = `org.apache.kafka.common.security.scram.ScramLoginModule required username="${USER}" password="${PASSWORD}";`;
    server = await startLocalKafka({
      port,
      scramUsers: { [USER]: PASSWORD },
      settings: {
        'advertised.listeners': `PLAINTEXT://${brokers}`,
        'listener.security.protocol.map': 'PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT',
        'sasl.enabled.mechanisms': 'SCRAM-SHA-256,SCRAM-SHA-512',
        'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
        'listener.name.plaintext.scram-sha-256.sasl.jaas.config': login,
        'listener.name.plaintext.scram-sha-512.sasl.jaas.config': login,
        // With SASL, a broker ignores this setting without the listener's prefix.
        'listener.name.plaintext.ssl.client.auth': 'required',
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.certificate.chain': broker.certificate,
        'ssl.keystore.key': broker.privateKey,
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.certificates': authority.certificate,
      },
    });
  });

  afterEach(async () => {
    await Promise.all(opened.map((log) => log.stop()));
    opened = [];
  });

  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Writes the certificate of a client. */
  async function issue(signer: KeyPairPem, trusted: KeyPairPem): Promise<void> {
    const issued = await issueCertificate(signer, { dnsNames: ['gateway'], validDays: DAYS });
    for (const [name, text] of Object.entries(filesOf(issued, trusted)))
      writeFileSync(join(folder, name), text);
  }

  function append(settings: Record<string, string> = {}): Promise<void> {
    const log = createKafkaEventLog({
      ...kafkaOptionsOf(
        z.object(kafkaSettings).parse({
          KAFKA_BROKERS: brokers,
          KAFKA_TLS: 'true',
          KAFKA_TLS_DIR: folder,
          KAFKA_SASL_MECHANISM: 'scram-sha-512',
          KAFKA_USERNAME: USER,
          KAFKA_PASSWORD: PASSWORD,
          KAFKA_PARTITIONS: '1',
          ...settings,
        }),
      ),
      clientId: 'test',
      clock: systemClock,
      log: createSilentLogger(),
      metrics: createMetrics({ processMetrics: false }),
      // So that a busy machine does not look like an unavailable broker.
      writeTimeoutMs: 30_000,
    });
    opened.push(log);
    return log.append('secured', [{ key: 'key', payload: Buffer.from('event') }]);
  }

  it.each(['scram-sha-256', 'scram-sha-512'])('accepts events with %s', async (mechanism) => {
    await issue(authority, authority);
    await expect(append({ KAFKA_SASL_MECHANISM: mechanism })).resolves.toBeUndefined();
  });

  it('refuses another password', async () => {
    await issue(authority, authority);
    await expect(append({ KAFKA_PASSWORD: 'guessed' })).rejects.toThrow('writing events to Kafka failed');
  });

  it('refuses a client without a certificate of its authority', async () => {
    await issue(await createAuthority(), authority);
    await expect(append()).rejects.toThrow('writing events to Kafka failed');
    rmSync(join(folder, 'tls.crt'));
    rmSync(join(folder, 'tls.key'));
    await expect(append()).rejects.toThrow('writing events to Kafka failed');
  });

  it('is refused when its certificate is of another authority than the client trusts', async () => {
    await issue(authority, await createAuthority());
    await expect(append()).rejects.toThrow('writing events to Kafka failed');
  });
});
