import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createScratchDirectory, type ScratchDirectory } from '@gateway/test-support';
import { gatherSpools, spoolOfWorker } from './spools';

describe('the spools of workers', () => {
  let state: ScratchDirectory;

  beforeEach(async () => {
    state = await createScratchDirectory();
    for (const worker of [1, 2, 3]) {
      mkdirSync(spoolOfWorker(state.path, worker));
      writeFileSync(path.join(spoolOfWorker(state.path, worker), `gen-${worker}.finished`), 'bytes');
    }
  });
  afterEach(() => state.remove());

  const own = () => {
    const folder = path.join(state.path, 'spool');
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  };

  it('of those that are there no longer go to the main process', () => {
    gatherSpools(state.path, 1);
    expect(own()).toEqual(['gen-2.finished', 'gen-3.finished']);
    expect(readdirSync(spoolOfWorker(state.path, 1))).toEqual(['gen-1.finished']);
  });

  it('stay where they are while their workers are there', () => {
    gatherSpools(state.path, 3);
    expect(own()).toEqual([]);
  });

  it('need no state folder', () => {
    expect(() => gatherSpools(path.join(state.path, 'none'), 0)).not.toThrow();
  });
});
