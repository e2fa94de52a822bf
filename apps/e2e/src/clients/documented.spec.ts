import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { clientsOnSdks, clientsWithSuites } from '../testing/tested-clients';

const e2e = path.resolve(__dirname, '../..');
const page = readFileSync(path.join(e2e, '../../docs/how-to/use-client-libraries.md'), 'utf8');
const SHOWN = /^(?:\/\/|#) docs:begin\n([\s\S]*?)^(?:\/\/|#) docs:end$/m;

describe('docs/how-to/use-client-libraries.md', () => {
  const shown = ['clients', 'python'].flatMap((folder) =>
    readdirSync(path.join(e2e, folder)).flatMap((name) => {
      const code = SHOWN.exec(readFileSync(path.join(e2e, folder, name), 'utf8'))?.[1];
      return code ? [{ name, code: code.trim() }] : [];
    }),
  );

  it.each(shown)('shows the code of $name that the tests run', ({ code }) => {
    expect(page).toContain(`\n${code}\n\`\`\``);
  });

  it('shows no code that is not tested', () => {
    expect(page.match(/^```\w+$/gm)).toHaveLength(shown.length);
  });

  const tested = [...clientsWithSuites, ...clientsOnSdks];
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const rowOf = ({ name, script }: (typeof tested)[number]) =>
    rows.filter((row) => {
      const [, client = ''] = row.split('|');
      const language = client.includes('(Node)') ? 'clients' : client.includes('(Python)') ? 'python' : '';
      return client.trim().startsWith(`\`${name}\``) && script.startsWith(language);
    });

  it.each(tested.map((client) => [client.name, client] as const))(
    'lists %s with the version and the setting that the tests use',
    (_, client) => {
      const [, , versions, , setting] = (rowOf(client)[0] ?? '').split('|').map((cell) => cell.trim());
      expect(versions?.split(', ')).toContain(`**${client.version.split('.').slice(0, 2).join('.')}**`);
      if (client.setting === undefined) expect(setting).toBe('–');
      else expect(setting).toContain(`\`${client.setting}`);
    },
  );

  it.each(
    tested.flatMap(({ name, setting, script }) => (setting === undefined ? [] : [{ name, setting, script }])),
  )('names a setting of $name that its program has', ({ setting, script }) => {
    expect(readFileSync(path.join(e2e, script), 'utf8')).toContain(setting);
  });

  it('lists the versions of Claude Code and Codex that the tests run', () => {
    const { dependencies } = JSON.parse(readFileSync(path.join(e2e, 'agents/package.json'), 'utf8')) as {
      dependencies: Readonly<Record<string, string>>;
    };
    const versions = Object.values(dependencies).map((pin) => `**${pin.split('.').slice(0, 2).join('.')}**`);
    const row = page.split('\n').find((line) => line.startsWith('| Claude Code, Codex'));
    expect(row).toContain(`| ${versions.join(', ')} `);
  });

  it('marks only versions that the tests run', () => {
    expect(rows.filter((row) => row.includes('**'))).toHaveLength(tested.length);
  });
});
