import { machineFacts, type Cores } from '../machine';
import { checkMoney } from '../money-check';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { startTargets, type Target } from '../targets';
import { defaultPeerCache } from './install-peer';
import { measurePeers, peerLines, type PeerResults } from './measure-peers';
import { PEERS } from './peers';
import { startPeer } from './start-peer';

/** Our own targets and the peers behind one upstream, in one run. */
export async function runPeers(
  options: Options,
  processes: Processes,
  cores: Cores | undefined,
  say: (text: string) => void,
): Promise<PeerResults> {
  const startedAt = new Date().toISOString();
  const machine = machineFacts(cores);
  say('Starting the upstream and the targets');
  const { targets: own, gateway, upstreamPort } = await startTargets(options, processes, cores);
  const cacheFolder = options.cacheFolder ?? defaultPeerCache();
  const targets: Target[] = own.filter(({ name }) => name !== 'upstream' && name !== 'relay');
  const notMeasured = new Map<string, string>();
  for (const peer of PEERS) {
    say(`Starting ${peer.title} ${peer.version}, from ${cacheFolder}`);
    const started = await startPeer(processes, peer, { cacheFolder, upstreamPort });
    if ('notMeasured' in started) notMeasured.set(peer.name, started.notMeasured);
    else targets.push(started);
  }
  const rows = await measurePeers(targets, options, say);
  const tally = targets.find(({ name }) => name === 'gateway')?.tally;
  const money = gateway === undefined || tally === undefined ? null : await checkMoney(gateway, tally);
  return { machine, startedAt, lines: peerLines(notMeasured), rows, money };
}
