import { Worker } from 'node:worker_threads';
import { createThreadPool, type ThreadPool } from './thread-pool';

interface Reply {
  readonly id: number;
  readonly threadId: number;
  readonly job: string;
}

/** Replies with the job, except that it exits at `exit` and does not reply to `hang`. */
const PROGRAM = `
  const { parentPort, threadId } = require('node:worker_threads');
  parentPort.on('message', ({ id, job }) => {
    if (job === 'exit') process.exit(3);
    if (job !== 'hang') parentPort.postMessage({ id, job, threadId });
  });`;

let pool: ThreadPool;
let queue: string[];
let outcomes: string[];
let threads: Set<number>;
let started: number;

function open(limits: { maxThreads?: number; idleMs?: number; maxJobMs?: number } = {}): void {
  pool = createThreadPool<string, Reply>({
    maxThreads: 1,
    idleMs: 60_000,
    ...limits,
    start() {
      started += 1;
      if (started === 1 && queue.includes('no thread')) throw new Error('no program');
      return new Worker(PROGRAM, { eval: true });
    },
    next: () => queue.shift(),
    send: (worker, id, job) => worker.postMessage({ id, job }),
    onReply(job, { threadId }) {
      threads.add(threadId);
      outcomes.push(`${job} replied`);
    },
    onLost: (job, { message }) => outcomes.push(`${job} lost: ${message}`),
  });
}

async function run(...jobs: string[]): Promise<void> {
  const expected = outcomes.length + jobs.length;
  for (const job of jobs) {
    queue.push(job);
    pool.dispatch();
  }
  while (outcomes.length < expected) await new Promise((resolve) => setTimeout(resolve, 5));
}

beforeEach(() => {
  queue = [];
  outcomes = [];
  threads = new Set();
  started = 0;
});

afterEach(() => pool.close());

it('runs one job per thread at a time, and limits the number of threads', async () => {
  open({ maxThreads: 2 });
  await run('a', 'b', 'c', 'd', 'e');
  expect([...outcomes].sort()).toEqual(['a', 'b', 'c', 'd', 'e'].map((job) => `${job} replied`));
  expect(started).toBe(2);
});

it('replaces a thread that ended, and reports its job as lost', async () => {
  open();
  await run('a', 'exit', 'b');
  expect(outcomes).toEqual(['a replied', 'exit lost: the thread ended with code 3', 'b replied']);
  expect(threads.size).toBe(2);
});

it('runs each job in a thread of its own where threads are not kept', async () => {
  open({ idleMs: 0 });
  await run('a', 'b', 'c');
  expect(threads.size).toBe(3);
});

it('reports a job that takes too long as lost, and replaces its thread', async () => {
  open({ maxJobMs: 500 });
  await run('hang');
  expect(outcomes).toEqual(['hang lost: a job took more than 500 ms']);
  // On a busy machine the start of a thread can take longer than this limit.
  while (outcomes.at(-1) !== 'a replied') await run('a');
  expect(started).toBeGreaterThanOrEqual(2);
});

it('terminates an idle thread, and starts another for the next job', async () => {
  open({ idleMs: 5 });
  await run('a');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await run('b');
  expect([started, threads.size]).toEqual([2, 2]);
});

it('reports a job as lost when no thread can be started, and running jobs when it closes', async () => {
  open();
  queue.push('a', 'no thread');
  pool.dispatch();
  expect(outcomes).toEqual(['a lost: no program']);
  queue = ['hang'];
  await pool.close();
  open();
  queue = ['hang'];
  pool.dispatch();
  await pool.close();
  expect(outcomes.at(-1)).toBe('hang lost: the pool is closed');
});
