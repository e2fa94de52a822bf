// `npm start`: installs, builds and runs the gateway in this process; works in a fresh clone.
import path from 'node:path';
import { buildToRun } from './lib/nx.mjs';
import { runGateway } from './lib/run-gateway.mjs';
import { exitOnFailure, root } from './lib/run.mjs';

try {
  await buildToRun('gateway');
} catch (error) {
  exitOnFailure(error);
}

process.chdir(root);
runGateway(path.join(root, 'dist', 'gateway', 'main.js'));
