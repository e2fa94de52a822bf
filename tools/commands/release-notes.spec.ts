import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const script = path.join(__dirname, 'release-notes.mjs');
const CHANGELOG = `# Changelog

## [0.2.0] - Unreleased

New.

## [0.1.0] - 2026-12-01

### Added

- One.

## [0.0.9] - 2026-11-01

Old.
`;

function notesOf(version: string) {
  const code = `const { notesOf } = await import('${pathToFileURL(script).href}');
    process.stdout.write(notesOf(process.argv[1], process.argv[2]));`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code, CHANGELOG, version], {
    encoding: 'utf8',
  });
}

it('the notes of a release are the section of its version', () => {
  expect(notesOf('0.1.0').stdout).toBe('### Added\n\n- One.');
});

it.each(['0.2.0', '0.3.0', '0.1'])('a version without a date is refused: %s', (version) => {
  const { status, stderr } = notesOf(version);
  expect(status).not.toBe(0);
  expect(stderr).toContain(`CHANGELOG.md has no heading "## [${version}] - <date>"`);
});

it.each([
  ['v99.0.0', 'not 99.0.0'],
  ['0.1.0', 'is not a tag'],
])('the tag %s is refused', (tag, reason) => {
  const { status, stderr } = spawnSync(process.execPath, [script, tag], { encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain(reason);
});
