import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { ENGINE_IMAGES, engineMode } from './test-engines';

const read = (file: string) => readFileSync(path.join(__dirname, '../../../..', file), 'utf8');

it('tests use the images of the chart and of Compose', () => {
  const { demo } = parse(read('helm/inference-gateway/values.yaml')) as {
    demo: { images: Record<string, string> };
  };
  const { services } = parse(read('deploy/compose.yaml')) as { services: Record<string, { image?: string }> };
  const ofCompose = Object.keys(ENGINE_IMAGES).map((engine) => [engine, services[engine]?.image]);
  expect(ENGINE_IMAGES).toEqual(demo.images);
  expect(ENGINE_IMAGES).toEqual(Object.fromEntries(ofCompose));
});

it('the embedded server has the major version of the image', () => {
  const { optionalDependencies } = JSON.parse(read('package.json')) as {
    optionalDependencies: Record<string, string>;
  };
  const versions = Object.entries(optionalDependencies).filter(([name]) => name.includes('postgres'));
  expect(versions).not.toEqual([]);
  for (const [, version] of versions)
    expect(`postgres:${version.split('.')[0]}`).toBe(ENGINE_IMAGES.postgres);
});

it('GATEWAY_TEST_ENGINES is auto if it is not set, and refused if it is unknown', () => {
  expect(engineMode({})).toBe('auto');
  expect(engineMode({ GATEWAY_TEST_ENGINES: 'docker' })).toBe('docker');
  expect(() => engineMode({ GATEWAY_TEST_ENGINES: 'podman' })).toThrow(/auto, docker, local/);
});
