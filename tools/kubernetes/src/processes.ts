import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import path from 'node:path';

/** Programs in the background, each with a log file of its own. They end with the enclosure that they run in. */
export class Processes {
  constructor(private readonly state: string) {}

  start(name: string, program: string, args: readonly string[]): void {
    const logFile = path.join(this.state, `${name}.log`);
    const log = openSync(logFile, 'a');
    // Detached, so that it outlives this run where that is wanted.
    const child = spawn(program, args, { detached: true, cwd: this.state, stdio: ['ignore', log, log] });
    closeSync(log);
    child.once('error', (error) => appendFileSync(logFile, `${String(error)}\n`));
    child.unref();
  }
}
