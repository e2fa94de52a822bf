import { Worker } from 'node:worker_threads';
import { createThreadPool, type ThreadPool, type ThreadPoolOptions } from './thread-pool';

interface Reply {
  readonly id: number;
  readonly threadId: number;
  readonly job: string;
}

/** Replies with the job, except that it exits at `exit`, and at the first `exit once`, and does not reply to `hang`. */
const PROGRAM = `
  const { parentPort, threadId, workerData } = require('node:worker_threads');
  parentPort.on('message', ({ id, job }) => {
    if (job === 'exit' || (job === 'exit once' && workerData === 1)) process.exit(3);
    if (job !== 'hang') parentPort.postMessage({ id, job, threadId });
  });`;

let pool: ThreadPool<string, string>;
let threads: Set<number>;
let started: number;

function open(options: Partial<ThreadPoolOptions<string, Reply, string>> = {}): void {
  pool = createThreadPool<string, Reply, string>({
    maxThreads: 1,
    idleMs: 60_000,
    start() {
      started += 1;
      return new Worker(PROGRAM, { eval: true, workerData: started });
    },
    send: (worker, id, job) => worker.postMessage({ id, job }),
    resultOf({ job, threadId }) {
      threads.add(threadId);
      if (job === 'fail') throw new Error('failed');
      return job;
    },
    lost: ({ message }) => `lost: ${message}`,
    refused: (reason) => new Error(`refused: ${reason}`),
    ...options,
  });
}

/** The result of each job, or the message of its error. */
const run = (queue = pool.openQueue(), ...jobs: string[]) =>
  Promise.all(jobs.map((job) => queue.run(job).catch(({ message }: Error) => message)));

beforeEach(() => {
  threads = new Set();
  started = 0;
});

afterEach(() => pool.close());

it('runs one job per thread at a time, and limits the number of threads', async () => {
  open({ maxThreads: 2 });
  const jobs = ['a', 'b', 'c', 'd', 'e'];
  expect(await run(undefined, ...jobs)).toEqual(jobs);
  expect(started).toBe(2);
});

it('rejects with the error of a reply', async () => {
  open();
  expect(await run(undefined, 'fail', 'a')).toEqual(['failed', 'a']);
});

it('replaces a thread that ended, and its job is lost', async () => {
  open();
  expect(await run(undefined, 'a', 'exit', 'b')).toEqual(['a', 'lost: the thread ended with code 3', 'b']);
  expect(threads.size).toBe(2);
});

it('repeats a lost job once, before the others', async () => {
  open({ repeatsLost: true });
  const order: string[] = [];
  const queue = pool.openQueue();
  const jobs = ['exit once', 'exit', 'b'].map(async (job) => order.push(await queue.run(job)));
  await Promise.all(jobs);
  expect(order).toEqual(['exit once', 'lost: the thread ended with code 3', 'b']);
});

it('runs the next job in another thread where a thread is not kept', async () => {
  open({ keepsThread: ({ job }) => job === 'c' });
  await run(undefined, 'a', 'b', 'c', 'd');
  expect(threads.size).toBe(3);
});

it('loses a job that takes too long, and replaces its thread', async () => {
  open({ maxJobMs: 500 });
  const queue = pool.openQueue();
  expect(await run(queue, 'hang')).toEqual(['lost: a job took more than 500 ms']);
  // On a busy machine the start of a thread can take longer than this limit.
  while ((await queue.run('a')) !== 'a');
  expect(started).toBeGreaterThanOrEqual(2);
});

it('terminates an idle thread, and starts another for the next job', async () => {
  open({ idleMs: 5 });
  const queue = pool.openQueue();
  await run(queue, 'a');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await run(queue, 'b');
  expect([started, threads.size]).toEqual([2, 2]);
});

it('loses a job when no thread can be started', async () => {
  open({
    start() {
      throw new Error('no program');
    },
  });
  expect(await run(undefined, 'a', 'b')).toEqual(['lost: no program', 'lost: no program']);
});

it('alternates between queues, and limits each', async () => {
  open();
  const [long, short] = [pool.openQueue(10), pool.openQueue(1)];
  const order: string[] = [];
  const inOrder = async (queue: typeof long, job: string) => void order.push(await queue.run(job));
  const all = ['a', 'b', 'c', 'd'].map((job) => inOrder(long, job));
  all.push(inOrder(short, 'x'));
  expect(await run(short, 'y')).toEqual(['refused: the queue of 1 is full']);
  await Promise.all(all);
  // The first job ran already.
  expect(order.indexOf('x')).toBeLessThanOrEqual(2);
});

it('alternates between owners, who share a full queue', async () => {
  open();
  const queue = pool.openQueue(3);
  const order: string[] = [];
  const inOrder = async (job: string, owner: string) => {
    const result = await queue.run(job, { owner }).catch(({ message }: Error) => message);
    order.push(result === job ? job : `${job} ${result}`);
  };
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4', 'a5'].map((job) => inOrder(job, 'a')),
    ...['b1', 'b2'].map((job) => inOrder(job, 'b')),
  ]);
  // a1 runs at once. Of the three that wait, b1 has the place of a4.
  const full = 'refused: the queue of 3 is full';
  expect(order.filter((each) => each.endsWith(full)).sort()).toEqual([
    `a4 ${full}`,
    `a5 ${full}`,
    `b2 ${full}`,
  ]);
  expect(order.filter((each) => !each.endsWith(full))).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('a cancelled job leaves the queue, or its result is discarded', async () => {
  open();
  const queue = pool.openQueue(1);
  const cancel = new AbortController();
  const { signal } = cancel;
  const message = (job: string) => queue.run(job, { signal }).catch((error: Error) => error.message);
  const cancelled = [message('running'), message('queued')];
  expect(await run(queue, 'refused')).toEqual(['refused: the queue of 1 is full']);
  cancel.abort(new Error('cancelled'));
  const next = run(queue, 'next');
  expect(await Promise.all([...cancelled, message('later')])).toEqual([
    'cancelled',
    'cancelled',
    'cancelled',
  ]);
  expect(await next).toEqual(['next']);
});

it('refuses running, queued and later jobs when it closes', async () => {
  open();
  const queue = pool.openQueue();
  const jobs = run(queue, 'hang', 'queued');
  await pool.close();
  const stopped = 'refused: the threads are stopped';
  expect(await jobs).toEqual([stopped, stopped]);
  expect(await run(queue, 'later')).toEqual([stopped]);
});
