import type { CancelSignal } from '@gateway/base';
import { RpcError } from '../../rpc-error';
import { Waiters } from '../waiters';
import type { ServerAddress } from './addresses';
import type { Replica } from './replica';

export interface ReplicaSetPorts {
  /** The servers that there are now. */
  readonly resolve: () => Promise<readonly ServerAddress[]>;
  readonly connect: (server: ServerAddress, onChange: () => void) => Replica;
  /** Told when the servers cannot be found, once until they can. */
  readonly onUnresolved?: (error: unknown) => void;
}

export interface ReplicaSetOptions {
  /** The servers are looked up again this often. */
  readonly resolveEveryMs: number;
  /** How often the replicas look after their silence. */
  readonly tickMs: number;
}

/** The replicas behind one name. Holds no timer while nobody calls. */
export class ReplicaSet {
  private readonly replicas = new Map<string, Replica>();
  private readonly waiters = new Waiters();
  private resolvedAtMs = -Infinity;
  private resolving: Promise<void> | undefined;
  private unresolved = false;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly ports: ReplicaSetPorts,
    private readonly options: ReplicaSetOptions,
  ) {
    void this.resolveServers();
    this.timer = setInterval(() => this.tick(), options.tickMs);
    this.timer.unref();
  }

  get size(): number {
    return this.replicas.size;
  }

  /** The callable replica with the fewest calls, other than `except`; undefined when there is none. */
  pick(except?: Replica): Replica | undefined {
    let best: Replica | undefined;
    for (const replica of this.replicas.values()) {
      if (replica === except || !replica.isCallable) continue;
      if (best === undefined || replica.calls < best.calls) best = replica;
    }
    if (best !== undefined) this.moveToEnd(best);
    return best;
  }

  /** As `pick`, and waits for one; after `maxWaitMs` takes the connected one that was silent for the shortest time. */
  async pickInTime(maxWaitMs: number, signal: CancelSignal | undefined, except?: Replica): Promise<Replica> {
    const deadline = performance.now() + maxWaitMs;
    for (;;) {
      const picked = this.pick(except);
      if (picked !== undefined) return picked;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || this.closed || signal?.aborted) break;
      await this.waiters.wait(leftMs, signal);
    }
    // On a machine that is starved all may seem silent: the one that is cut off then stays behind the others.
    const connected = [...this.replicas.values()].filter(
      (replica) => replica !== except && replica.isConnected,
    );
    const [latest] = connected.sort((a, b) => b.lastHeardMs - a.lastHeardMs);
    if (latest !== undefined) return latest;
    throw new RpcError('unreachable', 'no replica of the service is connected');
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    for (const replica of this.replicas.values()) replica.close();
    this.replicas.clear();
    this.waiters.wake();
  }

  private tick(): void {
    for (const replica of this.replicas.values()) replica.tick();
    if (performance.now() - this.resolvedAtMs >= this.options.resolveEveryMs) void this.resolveServers();
  }

  private resolveServers(): Promise<void> {
    this.resolving ??= this.lookUp().finally(() => {
      this.resolving = undefined;
    });
    return this.resolving;
  }

  private async lookUp(): Promise<void> {
    this.resolvedAtMs = performance.now();
    try {
      const servers = await this.ports.resolve();
      this.unresolved = false;
      if (!this.closed) this.adopt(servers);
    } catch (error) {
      // Those that are known are kept: a name server that is away takes nobody down.
      if (!this.unresolved) this.ports.onUnresolved?.(error);
      this.unresolved = true;
    }
  }

  private adopt(servers: readonly ServerAddress[]): void {
    const wanted = new Map(servers.map((server) => [server.address, server]));
    for (const [address, replica] of this.replicas) {
      if (wanted.has(address)) continue;
      this.replicas.delete(address);
      replica.retire();
    }
    for (const [address, server] of wanted) {
      if (!this.replicas.has(address)) {
        this.replicas.set(
          address,
          this.ports.connect(server, () => this.waiters.wake()),
        );
      }
    }
    this.waiters.wake();
  }

  /** The next pick begins with another, so that replicas with equally few calls take turns. */
  private moveToEnd(replica: Replica): void {
    this.replicas.delete(replica.address);
    this.replicas.set(replica.address, replica);
  }
}
