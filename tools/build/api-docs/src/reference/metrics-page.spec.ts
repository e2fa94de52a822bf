import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { metricsReference } from './metrics-page';

const root = path.resolve(__dirname, '../../../../..');

it('lists every metric that the libraries declare, however it is written', () => {
  const libraries = path.join(root, 'libs');
  const declared = readdirSync(libraries, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => readFileSync(path.join(libraries, file), 'utf8'))
    .filter((source) => /prom-client|createLatencyHistogram/.test(source))
    .flatMap((source) => [...source.matchAll(/name: '(gateway_\w+)'/g)].map(([, name = '']) => name));
  const page = metricsReference(root);
  expect(declared.length).toBeGreaterThan(50);
  expect(declared.filter((name) => !new RegExp(`\`${name}[{\`]`).test(page))).toEqual([]);
});
