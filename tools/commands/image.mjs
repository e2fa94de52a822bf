// `node image.mjs PROGRAM [options]`: the container image of one program, by Docker. The Nx target `image` runs it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { capture, exitOnFailure, Misused, root, runVisibly, StepFailed } from './lib/run.mjs';
import { IMAGE_PROGRAMS } from './lib/image-files.mjs';

const USAGE = `npm run images -- [--projects=LIST] [options]

  --projects LIST      of ${IMAGE_PROGRAMS.join(', ')};
                       all when absent
  --base IMAGE         what images stand on: has the libraries of node
                       (default ${ofDockerfile('BASE_IMAGE')})
  --build-image IMAGE  what builds them: has node and npm
                       (default ${ofDockerfile('BUILD_IMAGE')})
  --tag TAG            default: the version in package.json
  --registry HOST      before the image's name, as the chart's image.registry
  --push               push each image to its registry
  --network NAME       of the build, such as host (default: Docker's own)`;

try {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const {
    app,
    base = ofDockerfile('BASE_IMAGE'),
    'build-image': buildImage,
    tag = version,
    registry,
    push = false,
    network,
  } = readArguments();
  const { code, output } = await capture('git', ['rev-parse', 'HEAD']).catch(() => ({ code: 1 }));
  const revision = code === 0 ? output.trim() : 'unknown';
  const isHere = await capture('docker', ['image', 'inspect', base]);
  if (isHere.code !== 0 && (await runVisibly('docker', ['pull', base]))) {
    throw new StepFailed(`There is no image '${base}'.`);
  }
  const given = {
    APP: app,
    VERSION: version,
    REVISION: revision,
    BASE_IMAGE: base,
    BUILD_IMAGE: buildImage,
    // BuildKit's time of the image and of the folders that it makes; the files have the same time already.
    SOURCE_DATE_EPOCH: 0,
  };
  const settings = Object.entries(given).filter(([, value]) => value !== undefined);
  const image = [registry, 'inference-gateway', `${app}:${tag}`].filter(Boolean).join('/');
  const failed = await runVisibly('docker', [
    'build',
    ...['--file', 'docker/Dockerfile', '--tag', image],
    ...(network === undefined ? [] : ['--network', network]),
    ...settings.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    '.',
  ]);
  if (failed) throw new StepFailed(`The image of ${app} could not be built.`);
  if (push && (await runVisibly('docker', ['push', image]))) {
    throw new StepFailed(`${image} could not be pushed.`);
  }
  process.stdout.write(`${image}\n`);
} catch (error) {
  exitOnFailure(error.code === 'ENOENT' ? new StepFailed('There is no `docker` on the PATH.') : error);
}

/** What an argument of the Dockerfile is by itself. */
function ofDockerfile(name) {
  const text = readFileSync(path.join(root, 'docker/Dockerfile'), 'utf8');
  return text.match(new RegExp(`^ARG ${name}=(.*)$`, 'm'))[1];
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        base: { type: 'string' },
        'build-image': { type: 'string' },
        tag: { type: 'string' },
        registry: { type: 'string' },
        push: { type: 'boolean' },
        network: { type: 'string' },
      },
    });
    const [app, unexpected] = positionals;
    if (!IMAGE_PROGRAMS.includes(app)) throw new Error(`there is no image of '${app}'`);
    if (unexpected !== undefined) throw new Error(`unexpected argument '${unexpected}'`);
    return { ...values, app };
  } catch (error) {
    throw new Misused(error.message, USAGE);
  }
}
