import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const testFolderModule = pathToFileURL(path.join(__dirname, 'lib/test-folder.mjs')).href;
const SCRIPT = `
  (await import('${testFolderModule}')).makeTestFolder();
  console.log(process.env.TMPDIR);
  setInterval(() => undefined, 1000);`;

/** A run of tests that has its folder and goes on until it is ended. */
async function run() {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT]);
  const [folder] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  writeFileSync(path.join(folder.trim(), 'left'), 'something');
  return { folder: folder.trim(), end };
}

it('is one for each run, which anybody may write to', async () => {
  const [first, second] = [await run(), await run()];
  expect(first.folder).not.toBe(second.folder);
  expect(statSync(first.folder).mode & 0o7777).toBe(0o1777);
  await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')]);
});

it('is removed when its run ends, while that of another stays', async () => {
  const [first, second] = [await run(), await run()];
  await first.end('SIGINT');
  expect([existsSync(first.folder), existsSync(second.folder)]).toEqual([false, true]);
  await second.end('SIGTERM');
});

it('is removed by the next run when its own was killed', async () => {
  const killed = await run();
  await killed.end('SIGKILL');
  expect(existsSync(killed.folder)).toBe(true);
  const next = await run();
  expect(existsSync(killed.folder)).toBe(false);
  await next.end('SIGTERM');
});
