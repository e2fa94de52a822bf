import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { ENGINE_IMAGES, engineMode } from './test-engines';

it('tests use the images that the chart names', () => {
  const file = path.join(__dirname, '../../../../helm/inference-gateway/values.yaml');
  const { demo } = parse(readFileSync(file, 'utf8')) as { demo: { images: Record<string, string> } };
  expect(ENGINE_IMAGES).toEqual(demo.images);
});

it('GATEWAY_TEST_ENGINES is auto if it is not set, and refused if it is unknown', () => {
  expect(engineMode({})).toBe('auto');
  expect(engineMode({ GATEWAY_TEST_ENGINES: 'docker' })).toBe('docker');
  expect(() => engineMode({ GATEWAY_TEST_ENGINES: 'podman' })).toThrow(/auto, docker, local/);
});
