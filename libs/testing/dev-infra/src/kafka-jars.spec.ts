import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type * as Os from 'node:os';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { kafkaJars } from './kafka-process';

jest.mock('node:os', () => {
  const os = jest.requireActual<typeof Os>('node:os');
  return { ...os, homedir: jest.fn(os.homedir) };
});

/** Writes one jar that contains the working directory. */
const MAVEN = '#!/bin/sh\nmkdir jars && pwd > jars/kafka.jar\n';

it('downloads the jars to a sibling folder, since the temporary folder may be on another file system', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'gateway-home-'));
  const pathBefore = process.env['PATH'];
  try {
    writeFileSync(path.join(home, 'mvn'), MAVEN);
    chmodSync(path.join(home, 'mvn'), 0o755);
    process.env['PATH'] = `${home}:${pathBefore}`;
    jest.mocked(homedir).mockReturnValue(home);
    const jars = await kafkaJars();
    const ranIn = readFileSync(path.join(jars, 'kafka.jar'), 'utf8').trim();
    expect(path.dirname(ranIn)).toBe(path.dirname(jars));
    expect(existsSync(ranIn)).toBe(false);
    expect(readdirSync(path.dirname(jars))).toEqual([path.basename(jars)]);
  } finally {
    process.env['PATH'] = pathBefore;
    rmSync(home, { recursive: true, force: true });
  }
});
