export { missing, refusalMessage } from './messages';
export { accepted } from './refusals';
