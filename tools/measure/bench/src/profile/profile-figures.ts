import { renderTable } from '../report';
import { blame, IDLE, type Frame } from './causes';

/** A function of a program, as the engine's profiler names it; lines and columns are counted from 0. */
interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** As `Profiler.stop` of the inspector gives it: a tree of calls, and which node was under way at each look. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** µs since the look before. */
  readonly timeDeltas: readonly number[];
}

/** Tells the file that a position of a bundle was written in; undefined when that is not known. */
export type FindSource = (url: string, line: number, column: number) => string | undefined;

/** µs of samples, by cause and by file, with nothing of what was idle. */
export interface ProfileShares {
  readonly causes: ReadonlyMap<string, number>;
  readonly files: ReadonlyMap<string, number>;
  readonly busyMicroseconds: number;
}

const SHOWN_FILES = 10;

export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile, findSource: FindSource): ProfileShares {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, frameOf(callFrame, findSource)]));
  const stackOf = (id: number): Frame[] => {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined && byId.has(at); at = callers.get(at)) {
      const frame = frames.get(at);
      if (frame !== undefined) stack.push(frame);
    }
    return stack;
  };
  const blames = new Map(nodes.map(({ id }) => [id, blame(stackOf(id))]));
  const causes = new Map<string, number>();
  const files = new Map<string, number>();
  let busyMicroseconds = 0;
  for (const [index, id] of samples.entries()) {
    const blamed = blames.get(id);
    const took = timeDeltas[index] ?? 0;
    if (blamed === undefined || blamed.cause === IDLE) continue;
    busyMicroseconds += took;
    causes.set(blamed.cause, (causes.get(blamed.cause) ?? 0) + took);
    files.set(blamed.file, (files.get(blamed.file) ?? 0) + took);
  }
  return { causes, files, busyMicroseconds };
}

function frameOf({ functionName, url, lineNumber, columnNumber }: CallFrame, findSource: FindSource): Frame {
  const file = findSource(url, lineNumber, columnNumber) ?? fromModules(url);
  return { name: functionName, file };
}

/** The last part of a path that names a package; other paths are left as they are. */
export function fromModules(url: string): string {
  const at = url.lastIndexOf('node_modules/');
  return at === -1 ? url : url.slice(at);
}

/** What each cause takes of the CPU time of a request, the dearest first; together they are all of it. */
export function renderProfile(shares: ProfileShares, cpuMicrosecondsPerRequest: number): string {
  const line = (name: string, microseconds: number) => {
    const share = shares.busyMicroseconds === 0 ? 0 : microseconds / shares.busyMicroseconds;
    return [name, '', (share * cpuMicrosecondsPerRequest).toFixed(1), `${(share * 100).toFixed(1)} %`];
  };
  const lines = (of: ReadonlyMap<string, number>) =>
    [...of].sort(([, a], [, b]) => b - a).map(([name, microseconds]) => line(name, microseconds));
  return renderTable([
    ['cause', '', 'CPU µs/req', 'share'],
    ...lines(shares.causes),
    line('all', shares.busyMicroseconds),
    [],
    ['file', '', 'CPU µs/req', 'share'],
    ...lines(shares.files).slice(0, SHOWN_FILES),
  ]);
}
