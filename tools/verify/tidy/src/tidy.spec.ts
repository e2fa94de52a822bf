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
  it('has no file that is hard to hold in mind', () => {
    const long = sources.filter((file) => {
      const lines = file.text.split('\n').length;
      return lines > (isForTests(file) ? MAX_TEST_LINES : MAX_LINES);
    });
    expect(named(long)).toEqual([]);
  });

  it('has no leftovers', () => {
    // Put together, so that this file is not one.
    const leftovers = new RegExp(
      ['\\bTO' + 'DO\\b', 'FIX' + 'ME', '\\bXX' + 'X\\b', 'for ' + 'now\\b'].join('|'),
    );
    expect(named(files.filter(({ text }) => leftovers.test(text)))).toEqual([]);
  });

  it('has no test that is skipped for good, or runs alone', () => {
    const marked =
      /\b(?:it|test|describe)\.(?:only|todo)\b|\b(?:it|test|describe)\.skip\(|\bx(?:it|describe)\(/;
    const offenders = sources.filter(({ name, text }) => isForTests({ name, text }) && marked.test(text));
    expect(
      named(offenders).filter((name) => !/^(tools\/verify\/tidy|libs\/testing\/dev-infra)\//.test(name)),
    ).toEqual([]);
  });

  it('names folders of test helpers alike', () => {
    const others = /\/(support|test-support|test-helpers|fixtures)\//;
    expect(named(sources.filter(({ name }) => others.test(name.replace(/^libs\/testing\//, ''))))).toEqual(
      [],
    );
  });

  it('has no file that nothing uses', () => {
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

  it('names no key, no host of a package registry and no folder of somebody’s machine', () => {
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
    const realKey = /sk-gw-[A-Za-z0-9_-]{43}/;
    expect(named(files.filter((file) => !isForTests(file) && realKey.test(file.text)))).toEqual([]);
  });

  it('tracks nothing that it ignores, such as generated code', () => {
    // A tree without its history, such as an unpacked archive, tracks nothing at all.
    const tracked = existsSync(path.join(root, '.git')) ? git('ls-files', '-ci', '--exclude-standard') : '';
    expect(tracked).toBe('');
  });

  it('explains every library and tool on a page of its own', () => {
    const folders = new Set(sources.map(({ name }) => name.split('/').slice(0, 3).join('/')));
    const silent = [...folders].filter(
      (folder) => /^libs\//.test(folder) && !existsSync(path.join(root, folder, 'README.md')),
    );
    expect(silent).toEqual([]);
  });

  it('has no broken link between its own documents', () => {
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

  it('names no source file in its documents that does not exist', () => {
    // From the root, from the document's folder, or as the end of a path, as "core/ports.ts" is.
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

/** Trusts the folder whoever owns it: containers often check out as somebody else. */
function git(...args: string[]): string {
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: root, encoding: 'utf8' });
}
