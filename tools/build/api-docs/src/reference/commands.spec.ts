import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../../../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const page = read('docs/reference/commands.md');

/** The text of each section, by its heading. */
const sections = new Map(
  page.split(/^### `/m).map((part) => [part.split('`')[0] ?? '', part.split('\n').slice(1).join('\n')]),
);

/** Options as `parseArgs` declares them. */
const OPTIONS = /'?([a-z][a-z-]*)'?: \{\s*type: '(?:string|boolean)'/g;

const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
const headingOf = (script: string) => `npm ${script === 'start' || script === 'test' ? '' : 'run '}${script}`;

/** Sources that parse the options of a script, if it has any. */
const sourcesOf = (script: string) =>
  [
    `tools/commands/${script === 'images' ? 'image' : script}.mjs`,
    `tools/verify/${script}/src/options.ts`,
    `tools/measure/${script}/src/options.ts`,
    `tools/operate/${script}/src/options.ts`,
    ...(script === 'conformance' ? ['apps/e2e/conformance/main.ts'] : []),
  ].filter((file) => existsSync(path.join(root, file)));

it('has a section for every npm script, and no other', () => {
  const documented = [...sections.keys()].filter((heading) => heading.startsWith('npm '));
  expect(documented.sort()).toEqual(scripts.map(headingOf).sort());
});

it.each(scripts)('has every option of %s', (script) => {
  const options = sourcesOf(script)
    .flatMap((file) => [...read(file).matchAll(OPTIONS)])
    .flatMap(([, name = '']) => (name === 'help' ? [] : `--${name}`));
  const section = sections.get(headingOf(script)) ?? '';
  expect(options.filter((option) => !section.includes(`\`${option}`))).toEqual([]);
});

const programs = readdirSync(path.join(root, 'apps')).filter((app) => {
  const main = path.join(root, 'apps', app, 'src/main.ts');
  return existsSync(main) && /runService\(|--check-config/.test(readFileSync(main, 'utf8'));
});

it('has a section for every service', () => {
  expect(programs.length).toBeGreaterThan(7);
  expect(programs.filter((program) => !sections.has(program))).toEqual([]);
});

it.each(programs)('has every command of the image %s', (program) => {
  const main = read(`apps/${program}/src/main.ts`);
  const [, list = ''] = /commands: \{([^}]*)\}/.exec(main) ?? [];
  const commands = [
    '--check-config',
    ...(/\bschemas\b/.test(main) ? ['migrate'] : []),
    ...[...list.matchAll(/'?([a-z-]+)'?:/g)].map(([, name = '']) => name),
  ];
  const section = sections.get(program) ?? '';
  expect(commands.filter((command) => !section.includes(`\`${command}`))).toEqual([]);
});

it.each([
  ['model-emulator', 'apps/model-emulator/src/config.ts'],
  ['demo', 'apps/demo/src/main.ts'],
  ['certificates', 'apps/certificates/src/main.ts'],
])('has every option of the image %s', (program, source) => {
  const options = [...read(source).matchAll(OPTIONS)].map(([, name = '']) => `--${name}`);
  const section = sections.get(program) ?? '';
  expect(options.length).toBeGreaterThan(4);
  expect(options.filter((option) => option !== '--help' && !section.includes(`\`${option}`))).toEqual([]);
});
