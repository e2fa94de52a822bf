// `npm run bench -- [COMMAND] [OPTIONS]`: builds for production and measures.
import { CLUSTER_PROJECTS } from './lib/nx.mjs';
import { runBuilt } from './lib/run-built.mjs';

/** What each command measures; the others measure the gateway. */
const PROJECTS = { ledger: [], cluster: ['gateway', ...CLUSTER_PROJECTS] };

const command = Object.keys(PROJECTS).find((name) => process.argv.includes(name));
await runBuilt('bench', [...(PROJECTS[command] ?? ['gateway']), 'bench']);
