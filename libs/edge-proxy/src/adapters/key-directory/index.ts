export {
  createKeyDirectory,
  type KeyDirectory,
  type KeyDirectoryOptions,
  type LookupOptions,
} from './create-key-directory';
