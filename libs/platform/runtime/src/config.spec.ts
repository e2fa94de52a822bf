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

const whole = { DATABASE_URL: 'postgres://host/db', DATABASE_PASSWORD: 'long enough', MODE: 'safe' };

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(schema, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
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

  it('gives typed settings with defaults, and ignores what the schema does not name', () => {
    expect(readConfig(schema, { ...whole, PATH: '/bin' })).toEqual({ ...whole, PORT: 8080 });
  });

  it('reports all faults together, by name', () => {
    const faults = faultsOf({ PORT: 'many', MODE: 'reckless' });
    expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual([
      'DATABASE_PASSWORD',
      'DATABASE_URL',
      'MODE',
      'PORT',
    ]);
  });

  it('never shows a value in a fault', () => {
    const faults = faultsOf({ ...whole, DATABASE_PASSWORD: 'hunter2', MODE: 'hunter2' });
    expect(faults).toHaveLength(2);
    expect(faults.join()).not.toContain('hunter2');
  });

  it('reads a setting from a file and drops the line break at its end only', () => {
    const { DATABASE_PASSWORD: _, ...rest } = whole;
    const config = readConfig(schema, { ...rest, DATABASE_PASSWORD_FILE: file(' from a file \n') });
    expect(config.DATABASE_PASSWORD).toBe(' from a file ');
  });

  it('refuses a setting that is given both ways', () => {
    expect(faultsOf({ ...whole, DATABASE_PASSWORD_FILE: file('another one') })).toEqual([
      'DATABASE_PASSWORD: set both directly and by DATABASE_PASSWORD_FILE',
    ]);
  });

  it('says once that a file cannot be read', () => {
    const { DATABASE_PASSWORD: _, ...rest } = whole;
    expect(faultsOf({ ...rest, DATABASE_PASSWORD_FILE: join(folder, 'missing') })).toEqual([
      'DATABASE_PASSWORD_FILE: the file cannot be read (ENOENT)',
    ]);
  });

  it('treats an empty variable as absent', () => {
    expect(readConfig(schema, { ...whole, PORT: '' }).PORT).toBe(8080);
  });

  it('freezes what it returns through and through', () => {
    const nested = z.object({ HOSTS: z.string().transform((text) => ({ list: text.split(',') })) });
    const config = readConfig(nested, { HOSTS: 'a,b' });
    expect(Object.isFrozen(config)).toBe(true);
    expect(() => (config.HOSTS.list as string[]).push('c')).toThrow(TypeError);
  });

  it('reports faults between settings', () => {
    const pair = z
      .object({ LOW: z.coerce.number(), HIGH: z.coerce.number() })
      .refine(({ LOW, HIGH }) => LOW < HIGH, { message: 'LOW must be below HIGH' });
    expect(() => readConfig(pair, { LOW: '2', HIGH: '1' })).toThrow('settings: LOW must be below HIGH');
  });
});
