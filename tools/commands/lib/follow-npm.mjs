import { execFileSync } from 'node:child_process';

const POLL_INTERVAL_MS = 500;

/**
 * `npm start` runs this process below a shell. A signal that terminates npm or the
 * shell does not reach this process, which would be orphaned. This calls back once
 * when one of them has exited, unless a signal arrived first: a second signal would
 * force an immediate stop. Outside npm it does nothing.
 */
export function whenNpmEnds(callback) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && (npm === undefined || isAlive(npm))) return;
    clearInterval(timer);
    callback();
  }, POLL_INTERVAL_MS);
  timer.unref();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => clearInterval(timer));
}

function parentOf(pid) {
  try {
    const parent = Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
    return parent > 1 ? parent : undefined;
  } catch {
    // Without `ps`, only the shell is watched.
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
