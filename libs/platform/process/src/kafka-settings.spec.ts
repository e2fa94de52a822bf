import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { kafkaOptionsOf, kafkaSettings } from './kafka-settings';

const optionsOf = (settings: Record<string, string>) =>
  kafkaOptionsOf(z.object(kafkaSettings).parse({ KAFKA_BROKERS: 'kafka:9092', ...settings }));

describe('the settings of Kafka', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-kafka-settings-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('read the certificates at each connection, so that renewed ones need no restart', () => {
    writeFileSync(join(folder, 'ca.crt'), 'authority');
    const { connection } = optionsOf({ KAFKA_TLS: 'true', KAFKA_TLS_DIR: folder });
    expect(connection.certificates?.()).toEqual({ ca: Buffer.from('authority') });
    writeFileSync(join(folder, 'tls.crt'), 'certificate');
    writeFileSync(join(folder, 'tls.key'), 'key');
    expect(connection.certificates?.()).toEqual({
      ca: Buffer.from('authority'),
      cert: Buffer.from('certificate'),
      key: Buffer.from('key'),
    });
  });

  it('refuse a folder without TLS, without an authority, and with half of a client certificate', () => {
    expect(() => optionsOf({ KAFKA_TLS_DIR: folder })).toThrow('requires KAFKA_TLS=true');
    expect(() => optionsOf({ KAFKA_TLS: 'true', KAFKA_TLS_DIR: folder })).toThrow('ca.crt');
    writeFileSync(join(folder, 'ca.crt'), 'authority');
    writeFileSync(join(folder, 'tls.key'), 'key');
    expect(() => optionsOf({ KAFKA_TLS: 'true', KAFKA_TLS_DIR: folder })).toThrow('only one of tls.crt');
  });

  it('refuse more in-sync replicas than replicas', () => {
    const settings = { KAFKA_REPLICATION_FACTOR: '2', KAFKA_MIN_INSYNC_REPLICAS: '3' };
    expect(() => optionsOf(settings)).toThrow('must not exceed KAFKA_REPLICATION_FACTOR');
  });

  it('refuse SASL without a user and a password', () => {
    expect(() => optionsOf({ KAFKA_SASL_MECHANISM: 'scram-sha-512' })).toThrow('KAFKA_USERNAME');
  });
});
