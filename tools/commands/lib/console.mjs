// What the bootstrap says: one line per step, alive while it runs.

const interactive = process.stdout.isTTY === true && process.env.CI !== 'true';
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const HEARTBEAT_MS = 10_000;

export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** Shows that a step is running: a spinner on a terminal, a line every ten seconds elsewhere. */
export function startProgress(title) {
  const startedAt = Date.now();
  const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(1);
  let frame = 0;
  if (!interactive) say(`… ${title}`);
  const timer = setInterval(
    () => {
      if (interactive)
        process.stdout.write(`\r${SPINNER[frame++ % SPINNER.length]} ${title} ${seconds()} s `);
      else say(`  still at it after ${seconds()} s`);
    },
    interactive ? 100 : HEARTBEAT_MS,
  );
  const end = (mark) => {
    clearInterval(timer);
    if (interactive) process.stdout.write('\r\u001b[2K');
    say(`${mark} ${title} (${seconds()} s)`);
  };
  return { done: () => end('✓'), failed: () => end('✗') };
}
