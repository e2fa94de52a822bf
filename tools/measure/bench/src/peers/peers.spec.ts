import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { scenarioName, type Row, type Scenario } from '../measure';
import { installPeer, reasonOf } from './install-peer';
import { PEER_SCENARIOS, peerLines } from './measure-peers';
import { PEERS, type Peer } from './peers';
import { renderPeers } from './render-peers';

const row = (
  target: string,
  scenario: Scenario,
  requestsPerSecond: number,
  database: number | null,
): Row => ({
  scenario: scenarioName(scenario),
  target,
  requests: 100,
  requestsPerSecond,
  chunksPerSecond: 0,
  p50Ms: 1.234,
  p99Ms: 2,
  firstByteP50Ms: null,
  cpuMicrosecondsPerRequest: 400,
  databaseCpuMicrosecondsPerRequest: database,
  residentMiB: 150,
});

const { sequential, concurrent, crowded, streams } = PEER_SCENARIOS;

function table(failureReason: ReadonlyMap<string, string>, rows: readonly Row[]): string {
  const machine = { cpu: 'cpu', cores: 2, memoryGiB: 8, node: 'v20', platform: 'linux', pinned: 'no' };
  return renderPeers({
    machine,
    startedAt: '2026-01-02T03:04:05Z',
    lines: peerLines(failureReason),
    rows,
    charges: null,
  });
}

describe('the table of peers', () => {
  it('shows the features and figures of each target, with the CPU time of PostgreSQL separately', () => {
    const rows = [
      ...[
        row('gateway', sequential, 500, 90),
        row('gateway', concurrent, 2_500, 120),
        row('gateway', crowded, 2_400, 90),
        row('gateway', streams, 300, 130),
      ],
      row('portkey', concurrent, 532, null),
    ];
    const text = table(new Map([['litellm', 'no python3']]), rows);
    const lines = text.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
    expect(lines[0]).toContain('2026-01-02; cpu, 2 cores');
    expect(lines).toContain(
      '| **this gateway** | keys | four and a budget | hold and settle, durable | 1.23 | 2,500 | 1.2 | 400 + 120 | 400 + 90 | 300 | 400 + 130 | 150 |',
    );
    expect(text).toMatch(/Portkey .* no +\| no +\| no +\| +\| +532 .* 400 \|/);
  });

  it('shows the reason for a peer that could not be measured', () => {
    const text = table(new Map([['litellm', 'no python3']]), []);
    expect(text).toMatch(/LiteLLM .* not measured \|/);
    expect(text).toMatch(/^LiteLLM .* was not measured: no python3$/m);
  });
});

describe('installing a peer', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-peers-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is repeated when the install commands have changed', async () => {
    const first: Peer = { ...(PEERS[1] as Peer), install: () => [[process.execPath, '-e', '0']] };
    const second: Peer = { ...first, install: () => [[process.execPath, '-e', 'process.exit(1)']] };
    expect(await installPeer(first, folder)).toHaveProperty('folder');
    expect(await installPeer(second, folder)).toHaveProperty('failureReason');
  });

  const peer = (...commands: string[]): Peer => ({
    ...(PEERS[0] as Peer),
    install: (_, version) => commands.map((script) => [process.execPath, '-e', script, version]),
  });

  it('reports the reason of a failure, retries the next time, and installs a version only once', async () => {
    const failing = "process.stderr.write('first\\nno such package\\n'); process.exit(1)";
    expect(await installPeer(peer(failing), folder)).toEqual({ failureReason: 'no such package' });
    const done = { folder: path.join(folder, `${PEERS[0]?.name}-${PEERS[0]?.version}`) };
    const onlyOnce = "require('node:fs').writeFileSync('../was-here', '', { flag: 'wx' })";
    expect(await installPeer(peer(onlyOnce), folder)).toEqual(done);
    expect(await installPeer(peer(onlyOnce), folder)).toEqual(done);
  });

  it('reports a missing install program', async () => {
    const missing: Peer = { ...peer(), name: 'litellm', install: () => [['no-such-program']] };
    expect(await installPeer(missing, folder)).toEqual({ failureReason: 'spawn no-such-program ENOENT' });
    expect(reasonOf(new Error('failed'))).toBe('failed');
    expect(reasonOf(new Error('not a 200\nHTTP/1.1 500\n\n{}'))).toBe('not a 200: {}');
  });
});
