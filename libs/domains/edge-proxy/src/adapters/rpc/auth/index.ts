export {
  createKeyDirectory,
  type KeyDirectoryOptions,
  type KeyDirectoryPorts,
  type LookupOptions,
  type WatchedKeyDirectory,
} from './key-directory';
