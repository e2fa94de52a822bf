import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError, readConfig } from './config';

const schema = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  DATABASE_URL: z.url(),
  DATABASE_PASSWORD: z.string().min(8),
  MODE: z.enum(['fast', 'safe']),
});

const complete = { DATABASE_URL: 'postgres://host/db', DATABASE_PASSWORD: 'long enough', MODE: 'safe' };

function issuesOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(schema, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
  return [];
}

describe('readConfig', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function file(content: string): string {
    const path = join(folder, 'secret');
    writeFileSync(path, content);
    return path;
  }

  it('returns typed settings with defaults, and ignores unknown variables', () => {
    expect(readConfig(schema, { ...complete, PATH: '/bin' })).toEqual({ ...complete, PORT: 8080 });
  });

  it('reports all issues together, by name', () => {
    const issues = issuesOf({ PORT: 'many', MODE: 'reckless' });
    expect(issues.map((issue) => issue.split(':')[0]).sort()).toEqual([
      'DATABASE_PASSWORD',
      'DATABASE_URL',
      'MODE',
      'PORT',
    ]);
  });

  it('never includes values in issues', () => {
    const issues = issuesOf({ ...complete, DATABASE_PASSWORD: 'hunter2', MODE: 'hunter2' });
    expect(issues).toHaveLength(2);
    expect(issues.join()).not.toContain('hunter2');
  });

  it('reads a setting from a file without the trailing line break', () => {
    const { DATABASE_PASSWORD: _, ...rest } = complete;
    const config = readConfig(schema, { ...rest, DATABASE_PASSWORD_FILE: file(' from a file \n') });
    expect(config.DATABASE_PASSWORD).toBe(' from a file ');
  });

  it('rejects a setting that is set both directly and by a file', () => {
    expect(issuesOf({ ...complete, DATABASE_PASSWORD_FILE: file('another one') })).toEqual([
      'DATABASE_PASSWORD: cannot be set together with DATABASE_PASSWORD_FILE',
    ]);
  });

  it('reports an unreadable file once', () => {
    const { DATABASE_PASSWORD: _, ...rest } = complete;
    expect(issuesOf({ ...rest, DATABASE_PASSWORD_FILE: join(folder, 'missing') })).toEqual([
      'DATABASE_PASSWORD_FILE: the file cannot be read (ENOENT)',
    ]);
  });

  it('treats an empty variable as absent', () => {
    expect(readConfig(schema, { ...complete, PORT: '' }).PORT).toBe(8080);
  });

  it('freezes the settings deeply', () => {
    const nested = z.object({ HOSTS: z.string().transform((text) => ({ list: text.split(',') })) });
    const config = readConfig(nested, { HOSTS: 'a,b' });
    expect(Object.isFrozen(config)).toBe(true);
    expect(() => (config.HOSTS.list as string[]).push('c')).toThrow(TypeError);
  });

  it('reports issues that concern several settings', () => {
    const pair = z
      .object({ LOW: z.coerce.number(), HIGH: z.coerce.number() })
      .refine(({ LOW, HIGH }) => LOW < HIGH, { message: 'LOW must be below HIGH' });
    expect(() => readConfig(pair, { LOW: '2', HIGH: '1' })).toThrow('settings: LOW must be below HIGH');
  });
});
