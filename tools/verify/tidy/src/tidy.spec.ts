import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isForTests, isTypeScript, projectFiles, relativeImports, root } from './project-files';

const MAX_LINES = 400;
const MAX_TEST_LINES = 700;

const files = projectFiles();
const sources = files.filter(isTypeScript);
const named = (found: readonly { name: string }[]) => found.map(({ name }) => name);

describe('the project', () => {
  it('has no source file over the maximum length', () => {
    const long = sources.filter((file) => {
      const lines = file.text.split('\n').length;
      return lines > (isForTests(file) ? MAX_TEST_LINES : MAX_LINES);
    });
    expect(named(long)).toEqual([]);
  });

  it('has no leftover markers', () => {
    // Concatenated, so that this file does not match.
    const leftovers = new RegExp(
      ['\\bTO' + 'DO\\b', 'FIX' + 'ME', '\\bXX' + 'X\\b', 'for ' + 'now\\b'].join('|'),
    );
    expect(named(files.filter(({ text }) => leftovers.test(text)))).toEqual([]);
  });

  it('has no permanently skipped or exclusive tests', () => {
    const marked =
      /\b(?:it|test|describe)\.(?:only|todo)\b|\b(?:it|test|describe)\.skip\(|\bx(?:it|describe)\(/;
    const offenders = sources.filter(({ name, text }) => isForTests({ name, text }) && marked.test(text));
    expect(
      named(offenders).filter((name) => !/^(tools\/verify\/tidy|libs\/testing\/dev-infra)\//.test(name)),
    ).toEqual([]);
  });

  it('uses the same names for folders of test helpers', () => {
    const others = /\/(support|test-support|test-helpers|fixtures)\//;
    expect(named(sources.filter(({ name }) => others.test(name.replace(/^libs\/testing\//, ''))))).toEqual(
      [],
    );
  });

  it('has no unused source files', () => {
    const used = new Set(sources.flatMap(relativeImports));
    const entries =
      /(^|\/)(index|main)\.tsx?$|-(process|worker)\.ts$|\.spec\.tsx?$|^libs\/platform\/contracts\/src\/|jest-global-/;
    const dead = sources.filter(({ name }) => {
      const bare = name.replace(/\.tsx?$/, '');
      return !entries.test(name) && !used.has(bare) && !used.has(bare.replace(/\/index$/, ''));
    });
    expect(named(dead)).toEqual([]);
  });

  it('reads the environment only where settings are read', () => {
    const allowed =
      /^apps\/[^/]+\/src\/config\.ts$|^tools\/|^apps\/e2e\/|^libs\/testing\/|^libs\/demo\/model-emulator\/|\.(spec|contract)\.tsx?$/;
    const offenders = sources.filter(({ name, text }) => text.includes('process.env') && !allowed.test(name));
    expect(named(offenders)).toEqual([]);
  });

  it("contains no API key, no package registry host and no path of a developer's machine", () => {
    const foreign = new RegExp(
      [
        'registry\\.npm' + 'js',
        'deb\\.deb' + 'ian\\.org',
        'repo1?\\.maven',
        '/ho' + 'me/[a-z]',
        '/wo' + 'rk/',
      ].join('|'),
    );
    expect(named(files.filter(({ text }) => foreign.test(text)))).toEqual([]);
    const realKey = /[sm]k-gw-[A-Za-z0-9_-]{43}/;
    expect(named(files.filter((file) => !isForTests(file) && realKey.test(file.text)))).toEqual([]);
  });

  it('does not track ignored files, such as generated code', () => {
    // An unpacked archive has no git history.
    const tracked = existsSync(path.join(root, '.git')) ? git('ls-files', '-ci', '--exclude-standard') : '';
    expect(tracked).toBe('');
  });

  it('has a README for every library', () => {
    const folders = new Set(sources.map(({ name }) => name.split('/').slice(0, 3).join('/')));
    const undocumented = [...folders].filter(
      (folder) => /^libs\//.test(folder) && !existsSync(path.join(root, folder, 'README.md')),
    );
    expect(undocumented).toEqual([]);
  });

  it('has no broken links between its documents', () => {
    const broken = files
      .filter(({ name }) => name.endsWith('.md'))
      .flatMap(({ name, text }) =>
        [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
          .map(([, target = '']) => path.posix.join(path.posix.dirname(name), target))
          .filter((target) => !existsSync(path.join(root, target)))
          .map((target) => `${name} → ${target}`),
      );
    expect(broken).toEqual([]);
  });

  it('mentions only existing source files in its documents', () => {
    // Relative to the root or the document, or the end of a path, such as "core/ports.ts".
    const exists = (from: string, name: string) =>
      [name, path.posix.join(path.posix.dirname(from), name)].some((one) =>
        existsSync(path.join(root, one)),
      ) || files.some((file) => file.name.endsWith(`/${name}`));
    const stale = files
      .filter(({ name }) => name.endsWith('.md'))
      .flatMap(({ name, text }) =>
        [...text.matchAll(/`([\w@/-][\w@./-]*\.(?:ts|mjs|cjs|sql|proto|prisma|py))`/g)]
          .map(([, file = '']) => file)
          .filter((file) => !exists(name, file))
          .map((file) => `${name} → ${file}`),
      );
    expect(stale).toEqual([]);
  });
});

/** Trusts the folder regardless of its owner: containers often check out as another user. */
function git(...args: string[]): string {
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: root, encoding: 'utf8' });
}
