import { writeFileSync } from 'node:fs';
import { documentFiles } from './document-files';

// Run from the project's root.
for (const [name, text] of documentFiles('.')) {
  writeFileSync(name, text);
  process.stdout.write(`${name}\n`);
}
