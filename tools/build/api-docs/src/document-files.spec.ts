import { readFileSync } from 'node:fs';
import path from 'node:path';
import { documentFiles } from './document-files';

const root = path.resolve(__dirname, '../../../..');
const files = documentFiles(root);

it.each([...files.keys()])('%s is what `npm run docs` writes today', (name) => {
  const committed = readFileSync(path.join(root, name), 'utf8');
  // Not compared with toBe: printing the difference of two long texts takes too long.
  expect(committed === files.get(name)).toBe(true);
});
