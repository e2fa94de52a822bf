import { renderTable } from '../report';
import { attribute, IDLE, type Frame } from './causes';

/** A function as V8's profiler reports it; lines and columns start at 0. */
interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** The result of the inspector's `Profiler.stop`: a call tree, and the running node of each sample. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** µs since the previous sample. */
  readonly timeDeltas: readonly number[];
}

/** Returns the source file of a position in a bundle; undefined if unknown. */
export type FindSource = (url: string, line: number, column: number) => string | undefined;

/** CPU time in µs by cause and by file, without idle time. */
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
  const attributions = new Map(nodes.map(({ id }) => [id, attribute(stackOf(id))]));
  const causes = new Map<string, number>();
  const files = new Map<string, number>();
  let busyMicroseconds = 0;
  for (const [index, id] of samples.entries()) {
    const attribution = attributions.get(id);
    const took = timeDeltas[index] ?? 0;
    if (attribution === undefined || attribution.cause === IDLE) continue;
    busyMicroseconds += took;
    causes.set(attribution.cause, (causes.get(attribution.cause) ?? 0) + took);
    files.set(attribution.file, (files.get(attribution.file) ?? 0) + took);
  }
  return { causes, files, busyMicroseconds };
}

function frameOf({ functionName, url, lineNumber, columnNumber }: CallFrame, findSource: FindSource): Frame {
  const file = findSource(url, lineNumber, columnNumber) ?? fromModules(url);
  return { name: functionName, file };
}

/** The path from its last `node_modules/`; other paths are unchanged. */
export function fromModules(url: string): string {
  const at = url.lastIndexOf('node_modules/');
  return at === -1 ? url : url.slice(at);
}

/** CPU time per request by cause, in descending order, adding up to the total. */
export function renderProfile(shares: ProfileShares, cpuMicrosecondsPerRequest: number): string {
  const line = (name: string, microseconds: number) => {
    const share = shares.busyMicroseconds === 0 ? 0 : microseconds / shares.busyMicroseconds;
    return [name, '', (share * cpuMicrosecondsPerRequest).toFixed(1), `${(share * 100).toFixed(1)} %`];
  };
  const lines = (shares: ReadonlyMap<string, number>) =>
    [...shares].sort(([, a], [, b]) => b - a).map(([name, microseconds]) => line(name, microseconds));
  return renderTable([
    ['cause', '', 'CPU µs/req', 'share'],
    ...lines(shares.causes),
    line('all', shares.busyMicroseconds),
    [],
    ['file', '', 'CPU µs/req', 'share'],
    ...lines(shares.files).slice(0, SHOWN_FILES),
  ]);
}
