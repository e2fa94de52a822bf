import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { capture, StepFailed } from './run.mjs';

const BLOCK = 512;
/** Fields of a tar header: where they are, and how long. */
const SIZE = [124, 12];
const MTIME = [136, 12];
const CHECKSUM = [148, 8];
const EPOCH = new Date(0).toISOString();

/**
 * Makes an image that Docker built the same as every other one of the same files on the same base: takes out when, and
 * in which containers, it was built. BuildKit can do as much (SOURCE_DATE_EPOCH, rewrite-timestamp), older builders not.
 *
 * @param {string} image with its tag
 * @param {string} base what it stands on; its layers stay as they are
 * @returns {Promise<string>} the image's new id, which is a digest of all that it holds
 */
export async function settleImage(image, base) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-settle-image-'));
  try {
    const baseLayers = JSON.parse(
      await docker('image', 'inspect', '--format', '{{json .RootFS.Layers}}', base),
    );
    const saved = await unpack(image, path.join(folder, 'saved'));
    const settled = path.join(folder, 'settled');
    mkdirSync(settled);
    const config = JSON.parse(readFileSync(path.join(saved.folder, saved.Config), 'utf8'));
    config.rootfs.diff_ids = saved.Layers.map((layer, index) => {
      const bytes = readFileSync(path.join(saved.folder, layer));
      if (config.rootfs.diff_ids[index] !== baseLayers[index]) settleTimes(bytes);
      writeFileSync(path.join(settled, `${index}.tar`), bytes);
      return `sha256:${digestOf(bytes)}`;
    });
    const text = JSON.stringify(settleConfig(config, baseLayers.length));
    const manifest = {
      Config: `${digestOf(text)}.json`,
      RepoTags: [image],
      Layers: saved.Layers.map((_, index) => `${index}.tar`),
    };
    writeFileSync(path.join(settled, manifest.Config), text);
    writeFileSync(path.join(settled, 'manifest.json'), JSON.stringify([manifest]));
    await command('tar', '--directory', settled, '--create', '--file', path.join(folder, 'settled.tar'), '.');
    await docker('load', '--quiet', '--input', path.join(folder, 'settled.tar'));
    return (await docker('image', 'inspect', '--format', '{{.Id}}', image)).trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function unpack(image, folder) {
  mkdirSync(folder);
  await docker('save', '--output', `${folder}.tar`, image);
  await command('tar', '--directory', folder, '--extract', '--file', `${folder}.tar`);
  const [manifest] = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
  return { folder, ...manifest };
}

/** What is in it of the build itself: times, and names of containers and of images in between. */
function settleConfig({ container: _, container_config: __, ...config }, baseLayers) {
  delete config.config?.Image;
  delete config.config?.Hostname;
  let layers = 0;
  const history = config.history?.map((entry) => {
    if (!entry.empty_layer) layers += 1;
    return layers > baseLayers || entry.empty_layer ? { ...entry, created: EPOCH } : entry;
  });
  return { ...config, created: EPOCH, history };
}

/** Zero in every header of an archive, in place. */
export function settleTimes(archive) {
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    if (header[0] === 0) break;
    writeOctal(header, MTIME, 0);
    header.fill(' ', CHECKSUM[0], CHECKSUM[0] + CHECKSUM[1]);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM[0], 'latin1');
    at += BLOCK + Math.ceil(readOctal(header, SIZE) / BLOCK) * BLOCK;
  }
}

function readOctal(header, [from, length]) {
  return Number.parseInt(header.toString('latin1', from, from + length), 8) || 0;
}

function writeOctal(header, [from, length], value) {
  header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, from, 'latin1');
}

const digestOf = (data) => createHash('sha256').update(data).digest('hex');
const docker = (...args) => command('docker', ...args);

async function command(program, ...args) {
  const { code, output } = await capture(program, args, {}, { stderr: false });
  if (code !== 0) throw new StepFailed(`${program} ${args[0]} failed.\n${output.trim()}`);
  return output;
}
