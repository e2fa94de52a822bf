import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const bundle = path.resolve(__dirname, '../../../dist/gateway/main.js');

/** By their names, with a path where the code names one. */
function loadedPackages(): readonly string[] {
  if (!existsSync(bundle)) throw new Error('The gateway is not built: run `npm run build`, or `npm test`.');
  const names = [...readFileSync(bundle, 'utf8').matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(
    ([, name]) => name as string,
  );
  // So that no test passes by reading nothing.
  expect(names).toContain('pg');
  return names;
}

describe('the built gateway', () => {
  it('does not load what nothing in one process speaks: gRPC, Kafka and Redis', () => {
    const packages = loadedPackages();
    for (const unused of ['@grpc/grpc-js', 'kafkajs', 'ioredis']) expect(packages).not.toContain(unused);
  });

  it('reads vocabularies as data: as programs they take ten times the memory', () => {
    const ofTokenizer = loadedPackages().filter((name) => name.startsWith('gpt-tokenizer'));
    expect([...new Set(ofTokenizer)]).toEqual(['gpt-tokenizer/encodingParams/constants']);
  });
});
