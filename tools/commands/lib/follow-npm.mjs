import { execFileSync } from 'node:child_process';

const LOOK_EVERY_MS = 500;

/**
 * `npm start` runs us below a shell. A signal that ends npm or that shell does
 * not reach us by itself, and we would go on without anybody to stop us. This
 * calls back once when one of them is gone, unless a signal did reach us first:
 * a second one would mean "at once". Outside npm it does nothing.
 */
export function whenNpmEnds(callback) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && (npm === undefined || isAlive(npm))) return;
    clearInterval(timer);
    callback();
  }, LOOK_EVERY_MS);
  timer.unref();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => clearInterval(timer));
}

function parentOf(pid) {
  try {
    const parent = Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
    return parent > 1 ? parent : undefined;
  } catch {
    // Without `ps` the shell alone is followed.
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
