// `node image-files.mjs PROGRAM FOLDER`: writes the files of a program's image. docker/Dockerfile runs it.
import path from 'node:path';
import { IMAGE_PROGRAMS, layOutImage } from './lib/image-files.mjs';
import { build } from './lib/nx.mjs';
import { exitOnFailure, Misused } from './lib/run.mjs';

const USAGE = 'node tools/commands/image-files.mjs PROGRAM FOLDER';

try {
  const [program, folder, unknown] = process.argv.slice(2);
  if (unknown !== undefined) throw new Misused(`unexpected argument '${unknown}'`, USAGE);
  if (!IMAGE_PROGRAMS.includes(program)) throw new Misused(`there is no image of '${program}'`, USAGE);
  if (folder === undefined) throw new Misused('missing FOLDER', USAGE);
  await build(program);
  await layOutImage(program, path.resolve(folder));
} catch (error) {
  exitOnFailure(error);
}
