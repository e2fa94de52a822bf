// `node tools/commands/release-notes.mjs v0.1.0`: prints the changelog of a version. Fails unless package.json and the chart
// have that version, and the changelog has its date.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { exitOnFailure, Misused, root } from './lib/run.mjs';

const read = (file) => readFileSync(path.join(root, file), 'utf8');

/** @returns the part of a changelog below the heading of a version. */
export function notesOf(changelog, version) {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  const heading = section?.split('\n', 1)[0] ?? '';
  if (!/^\[.*\] - \d{4}-\d{2}-\d{2}$/.test(heading))
    throw new Error(`CHANGELOG.md has no heading "## [${version}] - <date>"`);
  return section.slice(heading.length).trim();
}

function checkVersion(version) {
  const chart = read('helm/inference-gateway/Chart.yaml');
  const found = [
    JSON.parse(read('package.json')).version,
    /^version: (.*)$/m.exec(chart)?.[1],
    /^appVersion: ['"]?(.*?)['"]?$/m.exec(chart)?.[1],
  ];
  if (found.some((each) => each !== version))
    throw new Error(`package.json and Chart.yaml have ${found.join(', ')}, not ${version}`);
}

if (process.argv[1] === import.meta.filename) {
  try {
    const [tag, ...rest] = process.argv.slice(2);
    if (!/^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(tag ?? '') || rest.length > 0)
      throw new Misused(
        `'${process.argv.slice(2).join(' ')}' is not a tag`,
        'node tools/commands/release-notes.mjs v0.1.0',
      );
    checkVersion(tag.slice(1));
    console.log(notesOf(read('CHANGELOG.md'), tag.slice(1)));
  } catch (error) {
    exitOnFailure(error);
  }
}
