import { withTimeout } from '@gateway/base';
import { WebSocket } from 'undici';
import type { Child } from '../processes';
import type { CpuProfile } from './profile-figures';

/** Options of Node.js that start the inspector on a free port, which is printed on standard error. */
export const INSPECTOR_OPTIONS = ['--inspect=127.0.0.1:0'];

const RESPONSE_TIMEOUT_MS = 30_000;
/** About 10,000 samples per scenario, with little overhead. */
const SAMPLING_INTERVAL_MICROSECONDS = 500;

interface InspectorResponse {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** The profiler of a process that was started with `INSPECTOR_OPTIONS`. */
export class Profiler {
  private readonly pending = new Map<number, (response: InspectorResponse) => void>();
  private lastId = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.addEventListener('message', ({ data }) => {
      const response = JSON.parse(String(data)) as InspectorResponse;
      this.pending.get(response.id ?? 0)?.(response);
    });
  }

  /** @param startupOutput the output of the process when it started */
  static async connect(startupOutput: string): Promise<Profiler> {
    const address = /Debugger listening on (ws:\S+)/.exec(startupOutput)?.[1];
    if (address === undefined) throw new Error("the gateway did not print its inspector's URL");
    const socket = new WebSocket(address);
    await withTimeout(
      new Promise<void>((resolve, reject) => {
        socket.addEventListener('open', () => resolve(), { once: true });
        socket.addEventListener('error', () => reject(new Error('cannot connect to the inspector')), {
          once: true,
        });
      }),
      RESPONSE_TIMEOUT_MS,
      'connecting to the inspector',
    );
    return new Profiler(socket);
  }

  /** Profiles the main thread while `work` runs. */
  async profile(work: () => Promise<unknown>): Promise<CpuProfile> {
    await this.call('Profiler.enable');
    await this.call('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_MICROSECONDS });
    await this.call('Profiler.start');
    await work();
    const { profile } = (await this.call('Profiler.stop')) as { profile: CpuProfile };
    return profile;
  }

  close(): void {
    this.socket.close();
  }

  private async call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.lastId;
    const pendingResponse = new Promise<InspectorResponse>((resolve) => this.pending.set(id, resolve));
    this.socket.send(JSON.stringify({ id, method, params }));
    try {
      const { result, error } = await withTimeout(
        pendingResponse,
        RESPONSE_TIMEOUT_MS,
        `the response to ${method}`,
      );
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    } finally {
      this.pending.delete(id);
    }
  }
}

/** A process prints the inspector's URL when it starts. */
export function connectProfiler(child: Child): Promise<Profiler> {
  return Profiler.connect(child.output());
}
