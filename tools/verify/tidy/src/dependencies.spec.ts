import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './project-files';

const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const { dependencies, optionalDependencies } = JSON.parse(read('package.json')) as Readonly<
  Record<'dependencies' | 'optionalDependencies', Readonly<Record<string, string>>>
>;

it('documents each package that a server loads, with its maintenance and replacement', () => {
  const rows = read('docs/project/dependencies.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:Package|-)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  for (const cells of rows)
    expect(cells).toEqual([expect.anything(), ...Array(3).fill(expect.stringMatching(/\S/))]);
  for (const [, , maintenance] of rows) expect(['active', 'quiet', 'small', 'none']).toContain(maintenance);
  const documented = rows.flatMap(([packages = '']) => packages.split(', '));
  expect(documented.sort()).toEqual(Object.keys({ ...dependencies, ...optionalDependencies }).sort());
});
