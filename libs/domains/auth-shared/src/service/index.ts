export { missing, refusalMessage } from './messages';
