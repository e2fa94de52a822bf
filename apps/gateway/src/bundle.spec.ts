import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const bundle = path.resolve(__dirname, '../../../dist/gateway/main.js');

describe('the built gateway', () => {
  it('does not load what nothing in one process speaks: gRPC, Kafka and Redis', () => {
    if (!existsSync(bundle)) throw new Error('The gateway is not built: run `npm run build`, or `npm test`.');
    const packages = new Set(
      [...readFileSync(bundle, 'utf8').matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(
        ([, name]) => name,
      ),
    );
    // So that this cannot pass by reading nothing.
    expect(packages).toContain('pg');
    for (const unused of ['@grpc/grpc-js', 'kafkajs', 'ioredis']) expect(packages).not.toContain(unused);
  });
});
