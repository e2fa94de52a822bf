// `npm run chaos -- [--seed N] [--minutes M]`: injects faults into a cluster under load, then audits the ledger.
import { CLUSTER_PROJECTS } from './lib/nx.mjs';
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('chaos', [...CLUSTER_PROJECTS, 'chaos']);
