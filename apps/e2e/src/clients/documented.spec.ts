import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

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
});
