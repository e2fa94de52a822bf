import { readFileSync } from 'node:fs';
import { NODE_OPTIONS } from './node-options';

const [, semiSpace] = NODE_OPTIONS;

describe('the options of Node.js', () => {
  it('are the same in the images', () => {
    const entryPoint = /^ENTRYPOINT (.*)$/m.exec(readFileSync('docker/Dockerfile', 'utf8'))?.[1] ?? '[]';
    expect(JSON.parse(entryPoint)).toEqual(['node', ...NODE_OPTIONS, '/app/dist/program/main.js']);
  });

  it('are the same for `npm start` and the npm package', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
    expect(scripts.start).toBe(`node ${semiSpace} tools/commands/start.mjs`);
    expect(readFileSync('tools/commands/bin/inference-gateway.mjs', 'utf8')).toContain(`node ${semiSpace}`);
    const run = readFileSync('tools/commands/lib/run-gateway.mjs', 'utf8');
    expect(run).toContain('process.setSourceMapsEnabled(true)');
  });
});
