import type { Cluster } from '@gateway/cluster';
import type { ChaosResult } from '../run';
import type { Fault } from '../faults';

/** Runs the services of a cluster over datastores of a scenario. */
export interface FailoverLab {
  /** Starts a cluster, injects every fault once under load, and audits the records. */
  runUnderLoad(
    datastores: LabDatastores,
    faults: readonly Fault[] | ((cluster: Cluster) => readonly Fault[]),
  ): Promise<ChaosResult>;
}

/** Addresses in place of the cluster's own single servers. */
interface LabDatastores {
  readonly redisUrl?: string;
  readonly brokers?: string;
}

/** Datastores with a failover, and what happens to them. */
export interface Scenario {
  readonly name: string;
  /** Starts its datastores, and stops them at the end. */
  run(lab: FailoverLab): Promise<ChaosResult>;
}

/** A failover: no service is killed, so every request is recorded. */
export function failover(name: string, run: () => Promise<void>): Fault {
  return { name, hasAnotherReplica: false, closesClientConnections: false, losesGenerations: false, run };
}
