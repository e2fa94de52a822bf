import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './run';

/** Without "v". Its modules' versions follow from it: v1.x.y stands with v0.x.y of k8s.io/api and the others. */
const KUBERNETES_VERSION = '1.33.13';

/** The API server tells its version, and charts ask for one; other programs have no such variable. */
const LINKER_FLAGS = `-s -w -X k8s.io/component-base/version.gitVersion=v${KUBERNETES_VERSION}`;

interface GoModule {
  /** Of the module that has the main packages. */
  readonly module: string;
  readonly version: string;
  /** Each program, and its main package. */
  readonly programs: Readonly<Record<string, string>>;
  /** A main package of our own, where the module's brings far more than is needed. */
  readonly ownMain?: string;
}

/** CoreDNS with no more than the names of a cluster need: the rest is the libraries of every cloud. */
const COREDNS_MAIN = `package main

import (
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"

	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
`;

const kubernetes = (program: string): string => `k8s.io/kubernetes/cmd/${program}`;

const MODULES: readonly GoModule[] = [
  {
    module: 'k8s.io/kubernetes',
    version: `v${KUBERNETES_VERSION}`,
    programs: Object.fromEntries(
      ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'].map(
        (program) => [program, kubernetes(program)],
      ),
    ),
  },
  {
    module: 'go.etcd.io/etcd/server/v3',
    version: 'v3.5.21',
    programs: { etcd: 'go.etcd.io/etcd/server/v3' },
  },
  {
    module: 'github.com/coredns/coredns',
    version: 'v1.12.1',
    programs: { coredns: '.' },
    ownMain: COREDNS_MAIN,
  },
  { module: 'helm.sh/helm/v3', version: 'v3.17.3', programs: { helm: 'helm.sh/helm/v3/cmd/helm' } },
];

/** Where a program is; it has to be built before. */
export const programIn = (cache: string, program: string): string => path.join(cache, 'bin', program);

/** Builds what the cache lacks, from the Go module proxy; the first time takes a quarter of an hour or more. */
export async function buildPrograms(cache: string, say: (text: string) => void): Promise<void> {
  await mkdir(path.join(cache, 'bin'), { recursive: true });
  for (const each of MODULES) {
    const missing = Object.entries(each.programs).filter(([name]) => !existsSync(programIn(cache, name)));
    if (missing.length === 0) continue;
    say(`building ${missing.map(([name]) => name).join(', ')}, once`);
    await buildModule(cache, each, missing);
  }
}

async function buildModule(
  cache: string,
  { module, version, ownMain }: GoModule,
  programs: readonly (readonly [string, string])[],
): Promise<void> {
  // A module of our own that requires it: "go install" refuses modules that replace others.
  const folder = path.join(cache, 'modules', path.basename(module));
  await mkdir(folder, { recursive: true });
  const environment = { GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  const go = (...args: string[]): Promise<string> => run('go', args, { cwd: folder, env: environment });
  const { Dir: source } = JSON.parse(await go('mod', 'download', '-json', `${module}@${version}`)) as {
    Dir: string;
  };
  await writeFile(
    path.join(folder, 'go.mod'),
    goModule(module, version, await readFile(path.join(source, 'go.mod'), 'utf8')),
  );
  if (ownMain !== undefined) await writeFile(path.join(folder, 'main.go'), ownMain);
  for (const [name, main] of programs) {
    const built = `${programIn(cache, name)}.new`;
    await go('build', '-trimpath', `-ldflags=${LINKER_FLAGS}`, '-o', built, main);
    // At once, so that half a file never looks like a whole one.
    await rename(built, programIn(cache, name));
  }
}

/** Kubernetes replaces its own libraries by folders that its module leaves out; they are modules, too. */
function goModule(module: string, version: string, original: string): string {
  const goLine = /^go .*$/m.exec(original)?.[0] ?? 'go 1.24';
  const replaced = [...original.matchAll(/^\s*(?:replace )?(\S+) => \.\/staging\//gm)].map(
    ([, name = '']) => `replace ${name} => ${name} v0.${KUBERNETES_VERSION.split('.').slice(1).join('.')}`,
  );
  return ['module build', goLine, `require ${module} ${version}`, ...replaced, ''].join('\n\n');
}
