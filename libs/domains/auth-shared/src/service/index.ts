export { actorOf, missing, refusalMessage } from './messages';
