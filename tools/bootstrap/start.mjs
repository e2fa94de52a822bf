// `npm start`: from a bare clone to a running gateway.
import { spawn } from 'node:child_process';
import { exitOnFailure, root } from './lib/run.mjs';
import { build, setUp } from './lib/set-up.mjs';

try {
  await setUp();
  await build(['gateway']);
} catch (error) {
  exitOnFailure(error);
}

const child = spawn(
  process.execPath,
  ['--enable-source-maps', 'dist/gateway/main.js', ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
    env: process.env,
  },
);

// A terminal sends Ctrl-C to both; a supervisor only to us. The gateway takes a
// second signal as "now", so one that it already has is not passed on.
const terminal = process.stdin.isTTY === true;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (signal === 'SIGINT' && terminal) return;
    child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  });
}
child.once('error', exitOnFailure);
child.once('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
