import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePublicKeys, parseSigningKeys, PUBLIC_KEYS_FILE, SIGNING_KEYS_FILE } from '@gateway/actors';
import { writeActorKeys } from './actor-keys';

const DAY_MS = 86_400_000;
const OPTIONS = {
  services: ['auth', 'dashboard-api'],
  signers: ['dashboard-api', 'demo'],
  rotationDays: 90,
  nowUnixMs: 1_800_000_000_000,
};

describe('the files of the keys of assertions', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-actor-keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (...names: string[]) => readFileSync(join(folder, ...names), 'utf8');
  const idsOf = (signer: string) =>
    parseSigningKeys(read(signer, SIGNING_KEYS_FILE)).keys.map(({ kid }) => kid);
  const publicIds = (service: string) =>
    parsePublicKeys(read(service, PUBLIC_KEYS_FILE)).keys.map(({ kid }) => kid);

  it('give each signer its own key, and every service the public keys of all', async () => {
    await writeActorKeys(folder, OPTIONS);
    expect(readdirSync(join(folder, 'auth'))).toEqual([PUBLIC_KEYS_FILE]);
    expect(publicIds('auth').sort()).toEqual([...idsOf('dashboard-api'), ...idsOf('demo')].sort());
    expect(read('auth', PUBLIC_KEYS_FILE)).not.toContain('"d"');
    expect(statSync(join(folder, 'demo', SIGNING_KEYS_FILE)).mode & 0o777).toBe(0o600);
  });

  it('stay until they are due, and then keep the previous key', async () => {
    await writeActorKeys(folder, OPTIONS);
    const [first] = idsOf('dashboard-api');
    await writeActorKeys(folder, { ...OPTIONS, nowUnixMs: OPTIONS.nowUnixMs + 89 * DAY_MS });
    expect(idsOf('dashboard-api')).toEqual([first]);
    await writeActorKeys(folder, { ...OPTIONS, nowUnixMs: OPTIONS.nowUnixMs + 90 * DAY_MS });
    expect(idsOf('dashboard-api')).toEqual([expect.not.stringMatching(String(first)), first]);
    expect(publicIds('auth')).toEqual(expect.arrayContaining(idsOf('dashboard-api')));
  });
});
