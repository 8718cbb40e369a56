export { default } from './expo/with-waxwing.cjs';
