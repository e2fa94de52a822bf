export { accepted, acceptedOrCurrent } from './refusals';
