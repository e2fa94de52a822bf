// `node image.mjs PROGRAM [options]`: builds a program's container image with Docker. The Nx target `image` runs it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { capture, exitOnFailure, Misused, root, runVisibly, StepFailed } from './lib/run.mjs';
import { IMAGE_PROGRAMS } from './lib/image-files.mjs';
import { provenanceOf } from './lib/provenance.mjs';

const USAGE = `npm run images -- [--projects=LIST] [options]

  --projects LIST      comma-separated programs (default: all):
                       ${IMAGE_PROGRAMS.join(', ')}
  --base IMAGE         base image of the result; needs the libraries of node
                       (default ${dockerfileDefault('BASE_IMAGE')})
  --build-image IMAGE  image for the build stage; needs node and npm
                       (default ${dockerfileDefault('BUILD_IMAGE')})
  --tag TAG            tag of the images (default: the version in package.json)
  --registry HOST      registry prefix, as in the chart's image.registry
  --push               push each image to its registry
  --network NAME       Docker network for the build, such as host`;

try {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const {
    app,
    base = dockerfileDefault('BASE_IMAGE'),
    'build-image': buildImage = dockerfileDefault('BUILD_IMAGE'),
    tag = version,
    registry,
    push = false,
    network,
  } = readArguments();
  const { code, output } = await capture('git', ['rev-parse', 'HEAD']).catch(() => ({ code: 1 }));
  const revision = code === 0 ? output.trim() : 'unknown';
  const baseImages = [];
  for (const name of [buildImage, base]) baseImages.push({ name, digest: await pulledDigest(name) });
  const buildArguments = {
    APP: app,
    VERSION: version,
    REVISION: revision,
    BASE_IMAGE: base,
    BUILD_IMAGE: buildImage,
    // BuildKit stamps the image and its folders with this time, so that builds are reproducible.
    SOURCE_DATE_EPOCH: 0,
  };
  const image = [registry, 'inference-gateway', `${app}:${tag}`].filter(Boolean).join('/');
  const startedOn = new Date().toISOString();
  const failed = await runVisibly('docker', [
    'build',
    ...['--file', 'docker/Dockerfile', '--tag', image],
    ...(network === undefined ? [] : ['--network', network]),
    ...Object.entries(buildArguments).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    '.',
  ]);
  if (failed) throw new StepFailed(`Building the image of ${app} failed.`);
  const started = await capture('docker', ['run', '--rm', '--entrypoint', 'node', image, '--version']);
  if (started.code !== 0)
    throw new StepFailed(`Node.js does not start in ${image}: ${started.output.trim()}`);
  if (push && (await runVisibly('docker', ['push', image]))) {
    throw new StepFailed(`Pushing ${image} failed.`);
  }
  const provenance = provenanceOf({
    image,
    digest: await digestOf(image),
    program: app,
    buildArguments,
    revision,
    modified: await hasChanges(),
    lockFileSha256: createHash('sha256')
      .update(readFileSync(path.join(root, 'pnpm-lock.yaml')))
      .digest('hex'),
    baseImages,
    builder: `docker ${await dockerVersion()}`,
    startedOn,
    finishedOn: new Date().toISOString(),
  });
  const folder = path.join(root, 'dist', 'images');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${app}.provenance.json`), `${JSON.stringify(provenance, null, 2)}\n`);
  process.stdout.write(`${image}\n`);
} catch (error) {
  exitOnFailure(error.code === 'ENOENT' ? new StepFailed('docker was not found on the PATH.') : error);
}

/** Pulls the image if Docker does not have it. */
async function pulledDigest(name) {
  const { code } = await capture('docker', ['image', 'inspect', name]);
  if (code !== 0 && (await runVisibly('docker', ['pull', name]))) {
    throw new StepFailed(`The base image '${name}' is not available.`);
  }
  return digestOf(name);
}

/** The digest in the registry; of an image that is in none, its id. */
async function digestOf(name) {
  const format = '{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}';
  const { code, output } = await capture('docker', ['image', 'inspect', '--format', format, name]);
  if (code !== 0) throw new StepFailed(output.trim());
  return output.trim().split('@').at(-1);
}

async function dockerVersion() {
  const { output } = await capture('docker', ['version', '--format', '{{.Server.Version}}']);
  return output.trim();
}

/** Whether the sources differ from the commit. */
async function hasChanges() {
  const { code, output } = await capture('git', ['status', '--porcelain']).catch(() => ({ code: 1 }));
  return code !== 0 || output !== '';
}

/** The default of an argument in the Dockerfile. */
function dockerfileDefault(name) {
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
