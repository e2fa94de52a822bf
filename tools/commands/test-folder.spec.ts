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

/** A process that creates its test folder and runs until it is signalled. */
async function run() {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT]);
  const [folder] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const kill = async (signal: NodeJS.Signals) => {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  writeFileSync(path.join(folder.trim(), 'left'), 'something');
  return { folder: folder.trim(), kill };
}

it('is separate for each run, and writable by every user', async () => {
  const [first, second] = [await run(), await run()];
  expect(first.folder).not.toBe(second.folder);
  expect(statSync(first.folder).mode & 0o7777).toBe(0o1777);
  await Promise.all([first.kill('SIGTERM'), second.kill('SIGTERM')]);
});

it("is removed when its run exits; another run's folder stays", async () => {
  const [first, second] = [await run(), await run()];
  await first.kill('SIGINT');
  expect([existsSync(first.folder), existsSync(second.folder)]).toEqual([false, true]);
  await second.kill('SIGTERM');
});

it('is removed by the next run when its own run was killed', async () => {
  const killed = await run();
  await killed.kill('SIGKILL');
  expect(existsSync(killed.folder)).toBe(true);
  const next = await run();
  expect(existsSync(killed.folder)).toBe(false);
  await next.kill('SIGTERM');
});
