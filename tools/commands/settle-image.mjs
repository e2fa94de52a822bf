// `node settle-image.mjs IMAGE BASE`: makes an image the same as every other one of the same files; prints its id.
import { exitOnFailure, Misused } from './lib/run.mjs';
import { settleImage } from './lib/settle-image.mjs';

const USAGE = 'node tools/commands/settle-image.mjs IMAGE BASE';

try {
  const [image, base, unknown] = process.argv.slice(2);
  if (unknown !== undefined) throw new Misused(`there is no option '${unknown}'`, USAGE);
  if (base === undefined) throw new Misused('which image, and what does it stand on?', USAGE);
  process.stdout.write(`${await settleImage(image, base)}\n`);
} catch (error) {
  exitOnFailure(error);
}
