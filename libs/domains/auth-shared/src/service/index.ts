export { missing, refusalMessage } from './messages';
export { accepted, acceptedOrCurrent } from './refusals';
