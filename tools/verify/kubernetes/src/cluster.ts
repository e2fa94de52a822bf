import { spawn } from 'node:child_process';
import { runProgram } from './run-program';

/** A missing prerequisite of the run. */
export class MissingPrerequisite extends Error {}

/** A local port that is forwarded to a port of a pod. */
export interface PortForward {
  /** Such as `127.0.0.1:40123`. */
  readonly address: string;
  stop(): void;
}

const REACH_TIMEOUT = '10s';

/** A namespace of a cluster, accessed with `kubectl` and `helm` through a context. */
export class Cluster {
  private readonly forwards = new Set<PortForward>();

  constructor(
    readonly context: string,
    readonly namespace: string,
  ) {
    process.once('exit', () => this.stopForwards());
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return this.kubectlWith('', ...args);
  }

  /** @param manifests YAML or JSON */
  async apply(manifests: string): Promise<void> {
    await this.kubectlWith(manifests, 'apply', '--filename', '-');
  }

  helm(...args: readonly string[]): Promise<string> {
    return this.helmWith('', ...args);
  }

  /** @param input written to helm's standard input */
  helmWith(input: string, ...args: readonly string[]): Promise<string> {
    return runProgram('helm', [...args, '--kube-context', this.context, '--namespace', this.namespace], {
      input,
    });
  }

  /** @throws MissingPrerequisite if a program is not installed or the cluster does not respond */
  async expectReachable(programs: readonly string[]): Promise<void> {
    for (const program of programs) {
      const isFound = await runProgram(program, [
        'version',
        ...(program === 'kubectl' ? ['--client'] : []),
      ]).then(
        () => true,
        ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
      );
      if (!isFound) throw new MissingPrerequisite(`'${program}' was not found on the PATH`);
    }
    await this.kubectl('version', `--request-timeout=${REACH_TIMEOUT}`).catch((error: Error) => {
      const [reason] = error.message.trim().split('\n').slice(-1);
      throw new MissingPrerequisite(
        `the cluster of the context '${this.context}' does not respond: ${reason}`,
      );
    });
  }

  /** Forwards a local port until it is stopped or the pod terminates. */
  async forwardPort(target: string, port: number): Promise<PortForward> {
    const args = this.args('port-forward', target, `:${port}`, '--address', '127.0.0.1');
    const child = spawn('kubectl', args, { env: process.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const stop = (): void => void child.kill();
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const address = await new Promise<string>((resolve, reject) => {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const [, found] = /Forwarding from (127\.0\.0\.1:\d+)/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once('error', reject);
      child.once('close', () => reject(new Error(`cannot forward a port of ${target}: ${errors}`)));
    });
    const forward = { address, stop };
    this.forwards.add(forward);
    return forward;
  }

  stopForwards(): void {
    for (const forward of this.forwards) forward.stop();
    this.forwards.clear();
  }

  private kubectlWith(input: string, ...args: readonly string[]): Promise<string> {
    return runProgram('kubectl', this.args(...args), { input });
  }

  private args(...args: readonly string[]): string[] {
    return ['--context', this.context, '--namespace', this.namespace, ...args];
  }
}
