import { Condition, type CancelSignal } from '@gateway/base';
import { RpcError } from '../../rpc-error';
import type { ServerAddress } from './addresses';
import type { Replica } from './replica';

export interface ReplicaSetPorts {
  /** Returns the current servers. */
  readonly resolve: () => Promise<readonly ServerAddress[]>;
  readonly connect: (server: ServerAddress, onChange: () => void) => Replica;
  /** Called when name resolution fails, once until it succeeds again. */
  readonly onUnresolved?: (error: unknown) => void;
}

export interface ReplicaSetOptions {
  readonly resolveIntervalMs: number;
  /** How often replicas are checked for missing responses. */
  readonly checkIntervalMs: number;
}

/** The replicas behind one name. */
export class ReplicaSet {
  private readonly replicas = new Map<string, Replica>();
  private readonly changes = new Condition();
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
    this.timer = setInterval(() => this.tick(), options.checkIntervalMs);
    this.timer.unref();
  }

  get size(): number {
    return this.replicas.size;
  }

  callable(): Replica[] {
    return [...this.replicas.values()].filter(({ isCallable }) => isCallable);
  }

  /** The callable replica with the fewest calls, other than `except`; undefined if there is none. */
  pick(except?: Replica): Replica | undefined {
    let best: Replica | undefined;
    for (const replica of this.replicas.values()) {
      if (replica === except || !replica.isCallable) continue;
      if (best === undefined || replica.calls < best.calls) best = replica;
    }
    if (best !== undefined) this.moveToEnd(best);
    return best;
  }

  /** As `pick`, but waits for a callable replica. After `maxWaitMs`, picks the connected one that responded last. */
  async pickOrWait(maxWaitMs: number, signal: CancelSignal | undefined, except?: Replica): Promise<Replica> {
    const deadline = performance.now() + maxWaitMs;
    for (;;) {
      const picked = this.pick(except);
      if (picked !== undefined) return picked;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || this.closed || signal?.aborted) break;
      await this.changes.wait(signal, leftMs);
    }
    // On an overloaded machine, all replicas may seem unresponsive. The one that responded last is the best guess.
    const connected = [...this.replicas.values()].filter(
      (replica) => replica !== except && replica.isConnected,
    );
    const [latest] = connected.sort((a, b) => b.lastResponseMs - a.lastResponseMs);
    if (latest !== undefined) return latest;
    throw new RpcError('unreachable', 'no replica of the service is connected');
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    for (const replica of this.replicas.values()) replica.close();
    this.replicas.clear();
    this.changes.notifyAll();
  }

  private tick(): void {
    for (const replica of this.replicas.values()) replica.tick();
    if (performance.now() - this.resolvedAtMs >= this.options.resolveIntervalMs) void this.resolveServers();
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
      // Keep the known replicas: a failed name server must not cause an outage.
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
          this.ports.connect(server, () => this.changes.notifyAll()),
        );
      }
    }
    this.changes.notifyAll();
  }

  /** Makes replicas with equally few calls alternate. */
  private moveToEnd(replica: Replica): void {
    this.replicas.delete(replica.address);
    this.replicas.set(replica.address, replica);
  }
}
