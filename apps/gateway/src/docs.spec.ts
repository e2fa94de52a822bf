import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorCodes } from '@gateway/errors';
import { settings } from './config';

const read = (name: string) => readFileSync(path.resolve(__dirname, '../../..', name), 'utf8');

describe('the documents', () => {
  it('list exactly the existing settings', () => {
    const described = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm)].map(
      ([, name]) => name,
    );
    expect([...described].sort()).toEqual(Object.keys(settings.shape).sort());
  });

  it('show the actual default of every setting', () => {
    const defaults = settings.parse({}) as Record<string, unknown>;
    const rows = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`\s*\| `([^`]*)`/gm)];
    for (const [, name = '', text = ''] of rows) {
      if (defaults[name] !== undefined) expect([name, text]).toEqual([name, String(defaults[name])]);
    }
    expect(rows.length).toBeGreaterThan(5);
  });

  it('include every error code in the order of checks', () => {
    const guide = read('docs/api.md');
    const order = guide.slice(
      guide.indexOf('One error is returned'),
      guide.indexOf('What a refused request took'),
    );
    expect(errorCodes.filter((code) => !order.includes(`\`${code}\``))).toEqual([]);
  });
});
