import { readFileSync } from 'node:fs';
import path from 'node:path';
import { capabilities } from '@gateway/base';

it('the comments of models.yaml name every capability', () => {
  const text = readFileSync(path.resolve(__dirname, '../../../models.yaml'), 'utf8');
  expect(capabilities.filter((capability) => !new RegExp(`# .*\\b${capability}\\b`).test(text))).toEqual([]);
});
