export { createKeyDirectory, type KeyDirectoryOptions, type KeyDirectoryPorts } from './key-directory';
