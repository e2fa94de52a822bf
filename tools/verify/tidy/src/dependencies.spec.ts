import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import ts from 'typescript';
import { isForTests, projectFiles, root } from './project-files';

const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as Readonly<
  Record<'dependencies' | 'optionalDependencies', Readonly<Record<string, string>>>
>;
const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).sort();

/** Neither `npm start` nor an image runs or builds these. */
const FOR_TESTS =
  /^(?:apps\/e2e|libs\/testing|tools\/(?:verify|measure|build\/(?!bundle|generate)[^/]+))\/|\.fixture\.ts$|^tools\/commands\/chart\.mjs$/;
const SOURCE = /^(?:apps|libs|tools)\/.*\.(?:tsx?|mjs)$/;

it('documents each package that `npm start` installs, with its maintenance and replacement', () => {
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
  expect(documented.sort()).toEqual(installed);
});

it('installs with `npm start` each package that its programs and their build import', () => {
  const missing = projectFiles()
    .filter((file) => SOURCE.test(file.name) && !FOR_TESTS.test(file.name) && !isForTests(file))
    .flatMap(({ name, text }) =>
      ts
        .preProcessFile(text)
        .importedFiles.map(({ fileName }) => fileName)
        .filter((imported) => !/^\.|^@gateway\//.test(imported) && !isBuiltin(imported))
        .map((imported) => /^(?:@[^/]+\/)?[^/]+/.exec(imported)?.[0] ?? imported)
        .filter((imported) => !installed.includes(imported))
        .map((imported) => `${name}: ${imported}`),
    );
  expect(missing).toEqual([]);
});
