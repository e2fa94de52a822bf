import { machineFacts, type Cores } from '../machine';
import { checkCharges } from '../check-charges';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { startTargets, type Target } from '../targets';
import { defaultPeerCache } from './install-peer';
import { measurePeers, peerLines, type PeerResults } from './measure-peers';
import { PEERS } from './peers';
import { startPeer } from './start-peer';

/** Measures the gateway, the bare proxies and the peers in one run with one upstream. */
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
  const failureReason = new Map<string, string>();
  for (const peer of PEERS) {
    say(`Starting ${peer.title} ${peer.version}, from ${cacheFolder}`);
    const started = await startPeer(processes, peer, { cacheFolder, upstreamPort });
    if ('failureReason' in started) failureReason.set(peer.name, started.failureReason);
    else targets.push(started);
  }
  const rows = await measurePeers(targets, options, say);
  const tally = targets.find(({ name }) => name === 'gateway')?.tally;
  const charges = gateway === undefined || tally === undefined ? null : await checkCharges(gateway, tally);
  return { machine, startedAt, lines: peerLines(failureReason), rows, charges };
}
