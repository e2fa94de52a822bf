import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Fake programs on the PATH that record their arguments and run a test's script. */
export class FakePrograms {
  private readonly folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-fake-programs-'));
  private readonly before = process.env['PATH'];

  constructor() {
    process.env['PATH'] = `${this.folder}:/usr/bin:/bin`;
  }

  /** @param script shell script that runs after the arguments are recorded */
  add(name: string, script: string): void {
    const file = path.join(this.folder, name);
    writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> ${this.log()}\n${script}\n`);
    chmodSync(file, 0o755);
  }

  calls(): string[] {
    return readFileSync(this.log(), 'utf8').trim().split('\n');
  }

  remove(): void {
    process.env['PATH'] = this.before;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private log(): string {
    return path.join(this.folder, 'calls.log');
  }
}
