import { withTimeout } from '@gateway/base';
import { WebSocket } from 'undici';
import type { Child } from '../processes';
import type { CpuProfile } from './profile-figures';

/** For Node, before the program; it says on its standard error at which port. */
export const INSPECTED = ['--inspect=127.0.0.1:0'];

const ANSWER_TIMEOUT_MS = 30_000;
/** Often enough for some ten thousand looks in a scenario, seldom enough not to be what is measured. */
const SAMPLE_EVERY_MICROSECONDS = 500;

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** The profiler of a process that was started with `INSPECTED`. */
export class Profiler {
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private lastId = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      this.waiting.get(answer.id ?? 0)?.(answer);
    });
  }

  /** `greeting` is what the process printed when it started. */
  static async connect(greeting: string): Promise<Profiler> {
    const address = /Debugger listening on (ws:\S+)/.exec(greeting)?.[1];
    if (address === undefined) throw new Error('the gateway did not say where its inspector listens');
    const socket = new WebSocket(address);
    await withTimeout(
      new Promise<void>((resolve, reject) => {
        socket.addEventListener('open', () => resolve(), { once: true });
        socket.addEventListener('error', () => reject(new Error('the inspector refused')), { once: true });
      }),
      ANSWER_TIMEOUT_MS,
      'connecting to the inspector',
    );
    return new Profiler(socket);
  }

  /** The profile of the main thread while `work` runs. */
  async watch(work: () => Promise<unknown>): Promise<CpuProfile> {
    await this.ask('Profiler.enable');
    await this.ask('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_MICROSECONDS });
    await this.ask('Profiler.start');
    await work();
    const { profile } = (await this.ask('Profiler.stop')) as { profile: CpuProfile };
    return profile;
  }

  close(): void {
    this.socket.close();
  }

  private async ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.lastId;
    const answered = new Promise<Answer>((resolve) => this.waiting.set(id, resolve));
    this.socket.send(JSON.stringify({ id, method, params }));
    try {
      const { result, error } = await withTimeout(answered, ANSWER_TIMEOUT_MS, `the response to ${method}`);
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    } finally {
      this.waiting.delete(id);
    }
  }
}

/** The inspector's address is among the first things that a process prints. */
export function connectProfiler(child: Child): Promise<Profiler> {
  return Profiler.connect(child.output());
}
