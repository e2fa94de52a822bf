import { readFileSync } from 'node:fs';
import path from 'node:path';
import { signInErrorCodes } from './sign-in-errors';

it('the guide to single sign-on explains each error', () => {
  const guide = readFileSync(path.resolve(__dirname, '../../../../docs/how-to/single-sign-on.md'), 'utf8');
  const [, table = ''] = guide.split('## When it fails');
  const [heading, ...codes] = [...table.matchAll(/^\| `(\w+)` +\|/gm)].map(([, code]) => code);
  expect(heading).toBe('error');
  expect(codes.sort()).toEqual([...signInErrorCodes].sort());
});
