export { eventually } from '@gateway/testing';
