import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv';
import { parse } from 'yaml';
import { projectFiles, root } from './project-files';

/** What documents tell a reader to type, as far as it can be checked without running it. */

const files = projectFiles();
const documents = files.filter(({ name }) => /^(docs\/.*|[A-Z_]+)\.md$/.test(name));
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};
/** The source of every command: its file in tools/commands, and what that starts. */
const commandSources = files
  .filter(({ name }) => /^(tools|apps\/e2e)\/.*\.(mjs|ts)$/.test(name) && !/\.spec\.ts$/.test(name))
  .map(({ text }) => text)
  .join('\n');

const found = (pattern: RegExp) =>
  documents.flatMap(({ name, text }) =>
    [...text.matchAll(pattern)].map(([, ...groups]) => ({ name, groups: groups.map((each) => each ?? '') })),
  );
const codeIn = (language: string) =>
  found(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm')).map(
    ({ name, groups: [code = ''] }) => ({
      name,
      code: code.replace(/\\\n\s*/g, ' '),
    }),
  );
const commandsIn = (program: string) =>
  codeIn('sh').flatMap(({ name, code }) =>
    code
      .split('\n')
      .filter((line) => line.trim().startsWith(`${program} `))
      .map((line) => ({ name, line: line.trim() })),
  );

describe('a command in a document', () => {
  it('is a script of package.json', () => {
    const unknown = found(/\bnpm run ([a-z-]+)/g).filter(({ groups: [script = ''] }) => !(script in scripts));
    expect(unknown).toEqual([]);
  });

  it('has options that the command knows', () => {
    const unknown = found(/\bnpm run [a-z-]+ -- ([^`\n]*)/g).flatMap(({ name, groups: [given = ''] }) =>
      [...given.matchAll(/--([a-z][a-z-]+)/g)]
        .map(([, option = '']) => option)
        .filter((option) => option !== 'help')
        .filter(
          (option) =>
            !commandSources.includes(`--${option}`) &&
            !new RegExp(`\\b'?${option}'?: \\{`).test(commandSources),
        )
        .map((option) => `${name} → --${option}`),
    );
    expect(unknown).toEqual([]);
  });

  it('names a chart and a Compose file that exist', () => {
    const paths = [
      ...commandsIn('helm').flatMap(({ line }) => /\b(helm\/[\w-]+)/.exec(line)?.[1] ?? []),
      ...commandsIn('docker').flatMap(({ line }) => /--file (\S+)/.exec(line)?.[1] ?? []),
      ...commandsIn('cp').flatMap(({ line }) => line.split(' ').slice(1, 2)),
    ];
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((each) => !existsSync(path.join(root, each)))).toEqual([]);
  });

  it('sets values that the chart has', () => {
    const values = parse(
      readFileSync(path.join(root, 'helm/inference-gateway/values.yaml'), 'utf8'),
    ) as object;
    const has = (name: string) =>
      name
        .split('.')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], values) !==
      undefined;
    const names = commandsIn('helm').flatMap(({ line }) =>
      [...line.matchAll(/--set ([\w.]+)=/g)].map(([, name = '']) => name),
    );
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !has(name))).toEqual([]);
  });

  it('addresses components of the chart, as a release with the name "gateway" has them', () => {
    const template = readFileSync(
      path.join(root, 'helm/inference-gateway/templates/_components.tpl'),
      'utf8',
    );
    const components = [...template.matchAll(/^([a-z-]+):$/gm)].map(([, component = '']) => component);
    expect(components).toContain('edge-proxy');
    const named = [
      ...found(/\bkubectl [^\n]*\b(?:deploy|deployment|service)\/([a-z-]+)/g).map(
        ({ name, groups: [target = ''] }) => ({
          name,
          groups: [target.replace(/^gateway-inference-gateway-/, '')],
        }),
      ),
      ...found(/app\.kubernetes\.io\/component=([a-z-]+)/g),
    ];
    expect(named.length).toBeGreaterThan(6);
    expect(named.filter(({ groups: [component = ''] }) => !components.includes(component))).toEqual([]);
  });

  it('loads images in the version of the project', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    const tags = found(/\binference-gateway\/[$\w-]+:([\w.-]+)/g).map(({ groups: [tag] }) => tag);
    expect(tags.length).toBeGreaterThan(0);
    expect(new Set(tags)).toEqual(new Set([version]));
  });

  it('loads into kind every image that the chart uses', () => {
    const loops = codeIn('sh').flatMap(
      ({ code }) => /for program in (.*?); do\s+kind load docker-image/.exec(code)?.[1] ?? [],
    );
    expect(loops).toHaveLength(1);
    const template = (name: string) =>
      readFileSync(path.join(root, 'helm/inference-gateway/templates', name), 'utf8');
    const components = [...template('_components.tpl').matchAll(/^([a-z-]+):$/gm)].map(([, name]) => name);
    expect(components).toContain('edge-proxy');
    expect(template('rpc-certificates.yaml')).toContain('"name" "certificates"');
    expect((loops[0] ?? '').split(/\s+/).sort()).toEqual(
      [...components, 'certificates', 'demo', 'model-emulator'].sort(),
    );
  });

  it('starts services of the Compose file', () => {
    const { services } = parse(readFileSync(path.join(root, 'deploy/compose.yaml'), 'utf8')) as {
      services: object;
    };
    const named = commandsIn('docker').flatMap(
      ({ line }) => /compose .*(?:exec|run --rm) ([a-z-]+)/.exec(line)?.[1] ?? [],
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !(name in services))).toEqual([]);
  });
});

it('each setting in a document exists', () => {
  const code = files
    .filter(({ name }) => !name.endsWith('.md'))
    .map(({ text }) => text)
    .join('\n');
  const names = found(/\b(GATEWAY_[A-Z0-9_]*[A-Z0-9])/g);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter(({ groups: [name = ''] }) => !code.includes(name))).toEqual([]);
});

it('the values file of docs/how-to/install-with-helm.md is one that the chart accepts', () => {
  const schema = JSON.parse(
    readFileSync(path.join(root, 'helm/inference-gateway/values.schema.json'), 'utf8'),
  ) as object;
  const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
  const files = codeIn('yaml').filter(({ name }) => name === 'docs/how-to/install-with-helm.md');
  expect(files).toHaveLength(1);
  for (const { code } of files) {
    validate(parse(code));
    expect(validate.errors ?? []).toEqual([]);
  }
});
