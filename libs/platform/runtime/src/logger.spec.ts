import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '@gateway/errors';
import { createLogger, createSilentLogger, type LogLevel } from './logger';

function recorder(level: LogLevel = 'info', pretty = false) {
  const lines: string[] = [];
  const log = createLogger({
    name: 'test',
    level,
    pretty,
    destination: { write: (line) => lines.push(line) },
  });
  return { log, lines };
}

describe('the logger', () => {
  it('writes one JSON object per line with name, time and level by name', () => {
    const { log, lines } = recorder();
    log.info({ requestId: 'req-1' }, 'hello');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      name: 'test',
      msg: 'hello',
      requestId: 'req-1',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  it.each([
    { authorization: 'hunter2' },
    { headers: { authorization: 'hunter2', cookie: 'hunter2' } },
    { request: { headers: { Authorization: 'hunter2', 'x-api-key': 'hunter2' } } },
    { a: { b: { c: { password: 'hunter2' } } } },
    { provider: { apiKey: 'hunter2', api_key: 'hunter2' } },
    { session: { id: 'hunter2' } },
    { response: { sessionToken: 'hunter2', session_token: 'hunter2', secret: 'hunter2' } },
    { 'set-cookie': ['hunter2'] },
  ])('never writes the secret in %j', (fields) => {
    const { log, lines } = recorder();
    log.info(fields, 'message');
    log.child(fields).info('message');
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain('hunter2');
    expect(lines[0]).toContain('[redacted]');
  });

  it('redacts an API key in any text, including the message and stack of an error', () => {
    const { log, lines } = recorder();
    log.error({ err: new Error('no such key: sk-gw-abcDEF_123-xyz!') }, 'failed for sk-gw-abcDEF_123-xyz');
    expect(lines.join()).not.toContain('abcDEF');
    expect(lines[0]).toContain('sk-gw-[redacted]!');
  });

  it.each(['err', 'error', 'cause'])('writes no public message of an error in the field %s', (field) => {
    const { log, lines } = recorder();
    const thrown = (options: object) =>
      new GatewayError('invalid_request', {
        message: 'your prompt: hunter2\n    at the zoo, hunter2',
        param: 'hunter2',
        metadata: { text: 'hunter2' },
        ...options,
      });
    const failure = new Error('the provider said no');
    const nested = new Error('a call failed', { cause: thrown({ cause: failure }) });
    for (const error of [thrown({ internalMessage: 'HTTP 400', cause: nested }), thrown({}), nested]) {
      log.error({ [field]: error }, 'failed');
    }
    expect(lines.join()).not.toMatch(/hunter2|zoo/);
    expect(lines[0]).toMatch(/GatewayError.*HTTP 400.*a call failed.*the provider said no.*invalid_request/);
    expect(lines[0]).toContain('logger.spec.ts');
    log.error({ [field]: 'a text' }, 'failed');
    expect(lines.at(-1)).toContain('a text');
  });

  it('redacts a management token as well', () => {
    const { log, lines } = recorder();
    log.error({ err: new Error('no such token: mk-gw-abcDEF_123-xyz!') }, 'failed for mk-gw-abcDEF_123-xyz');
    expect(lines.join()).not.toContain('abcDEF');
    expect(lines[0]).toContain('mk-gw-[redacted]!');
  });

  it('does not modify the logged object', () => {
    const { log } = recorder();
    const fields = { headers: { authorization: 'hunter2' } };
    log.info(fields);
    expect(fields).toEqual({ headers: { authorization: 'hunter2' } });
  });

  it('writes nothing below its level', () => {
    const { log, lines } = recorder('warn');
    log.info('quiet');
    log.warn('loud');
    expect(lines).toHaveLength(1);
  });

  it('has a readable format, which is redacted as well', () => {
    const { log, lines } = recorder('info', true);
    log.info({ authorization: 'hunter2', key: 'sk-gw-abcdef' }, 'hello');
    expect(lines.join('')).toMatch(/INFO .*: hello/);
    expect(lines.join('')).not.toMatch(/hunter2|abcdef/);
  });

  describe('on standard output', () => {
    let writes: string[];

    beforeEach(() => {
      writes = [];
      jest.spyOn(fs, 'writeSync').mockImplementation((_file, text) => {
        writes.push(String(text));
        return Buffer.byteLength(String(text));
      });
    });
    afterEach(() => jest.restoreAllMocks());

    const create = (more: Partial<Parameters<typeof createLogger>[0]> = {}) =>
      createLogger({ name: 'test', level: 'info', pretty: false, ...more });

    /** Waits for this number of writes. */
    const untilWrites = async (count: number) => {
      while (writes.length < count) await delay(1);
    };

    it('batches lines within a short time into one write, in order', async () => {
      const log = create();
      for (const message of ['first', 'second', 'third']) log.info(message);
      expect(writes).toEqual([]);
      await untilWrites(1);
      log.info('fourth');
      await untilWrites(2);
      expect(writes.map((text) => text.match(/first|second|third|fourth/g))).toEqual([
        ['first', 'second', 'third'],
        ['fourth'],
      ]);
    });

    it('flushes early when many lines arrive', async () => {
      const log = create();
      for (let line = 0; line < 100; line += 1) log.info({ text: 'x'.repeat(2_000) }, `line ${line}`);
      expect(writes.length).toBeGreaterThan(1);
      while (!writes.join('').includes('line 99')) await delay(1);
    });

    it('writes the last lines when the process exits', () => {
      const known = process.listeners('exit');
      const log = create();
      log.error('the end');
      expect(writes).toEqual([]);
      const added = process.listeners('exit').filter((listener) => !known.includes(listener));
      for (const listener of added) listener(1);
      expect(writes.join('')).toContain('the end');
    });

    it.each([
      ['', {}],
      [' also where lines are exported', { onLine: () => undefined }],
      [' also in the readable format', { pretty: true }],
    ])('writes a fatal line and all lines before it immediately%s', (_where, more) => {
      const log = create(more);
      log.info('before');
      log.fatal('the end');
      expect(writes.join('')).toMatch(/before[^]*the end/);
    });
  });

  it('has a silent variant', () => {
    expect(createSilentLogger().isLevelEnabled('fatal')).toBe(false);
  });
});
