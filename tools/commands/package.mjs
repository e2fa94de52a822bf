// `npm run package`: builds the gateway and packs it as an npm package, which runs without a clone.
import { createHash } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/nx.mjs';
import { packGateway } from './lib/package-files.mjs';
import { exitOnFailure, Misused, root } from './lib/run.mjs';

const USAGE = `npm run package -- [options]

  --repository URL  the repository of the sources, for the package's manifest`;

try {
  const { repository } = readArguments();
  await build('gateway');
  // The archive of the chart, which `helm package` writes to dist, has the same name.
  const folder = path.join(root, 'dist', 'npm');
  const archive = await packGateway(folder, repository);
  cpSync(path.join(folder, 'package', 'sbom.cdx.json'), archive.replace(/\.tgz$/, '.cdx.json'));
  const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex');
  process.stdout.write(`${sha256}  ${path.relative(root, archive)}\n`);
} catch (error) {
  exitOnFailure(error);
}

function readArguments() {
  try {
    return parseArgs({ options: { repository: { type: 'string' } } }).values;
  } catch (error) {
    throw new Misused(error.message, USAGE);
  }
}
