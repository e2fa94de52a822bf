import { documentedSettings } from '@gateway/test-support';
import { settings } from './config';

describe('docs/cluster.md', () => {
  const documented = documentedSettings('usage-aggregator');

  it('lists exactly the settings of this service', () => {
    expect([...documented.keys()].sort()).toEqual(Object.keys(settings.shape).sort());
  });

  it('lists every default', () => {
    for (const [name, text] of documented) {
      const read = settings.shape[name as keyof typeof settings.shape].safeParse(undefined);
      const value: unknown = read.success ? read.data : undefined;
      const hasNone = value === undefined || (Array.isArray(value) && value.length === 0);
      expect([name, text]).toEqual([name, hasNone ? undefined : String(value)]);
    }
  });
});
